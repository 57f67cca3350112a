// The first module of a server under `npm run dev`. Production builds do not contain it. It loads everything but the
// product ahead of the next edit, because that takes most of the time of a start.
import { createLogger } from './request/logger.ts';
import './start/start.ts';

// The first logger is slow, because Pino reads the source maps of the modules that create it.
await createLogger({ level: 'silent', terminal: true });
await new Promise<void>((resolve) => {
  process.once('disconnect', () => process.exit(0)); // `npm run dev` has ended
  process.once('message', () => resolve());
});
await import('./main.ts');
