import type { Environment } from '../../engine/settings.ts';

/** How a command was called, and can be called again: `npm run desk --`, or `node dist/desk.mjs` where there is no npm. */
export function toCommandName({ npm_lifecycle_event: script }: Environment, name: string): string {
  return script === name ? `npm run ${name} --` : `node dist/${name}.mjs`;
}
