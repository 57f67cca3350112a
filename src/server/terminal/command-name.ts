import type { Environment } from '../engine/settings.ts';

/** Returns how to run a command again: `npm run desk --`, or `node dist/desk.mjs` without npm. */
export function toCommandName({ npm_lifecycle_event: script }: Environment, name: string): string {
  return script === name ? `npm run ${name} --` : `node dist/${name}.mjs`;
}
