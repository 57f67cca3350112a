import { readManifest } from '../../boot/read-manifest.ts';
import { ok, type Verdict, warning, wrong } from '../finding.ts';
import { listSentences } from './read-settings.ts';

export interface BuildState {
  /** The folder of the build. */
  readonly dist: string;
  /** Whether the build matches the sources; undefined if there are no sources. Set by `bin/run-command.mjs`. */
  readonly sources: string | undefined;
}

export function checkBuild({ dist, sources }: BuildState): Verdict {
  const [missing] = listSentences(() => readManifest(dist));
  if (missing !== undefined) {
    return sources === undefined ? wrong(missing) : warning(missing, '`npm start` builds first.');
  }
  const { buildId, release } = readManifest(dist);
  const name = release === undefined ? buildId : `${buildId}, of ${release}`;
  if (sources !== 'changed') return ok(`${name}.`);
  return warning(
    `${name}. The sources have changed since.`,
    '`npm start` builds first; `node dist/server/main.js` serves the old build.',
  );
}
