export { createReporter } from './sentry.ts';
