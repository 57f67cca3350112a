import { readManifest } from '../../boot/read-manifest.ts';
import { type Finding, toOk } from '../finding.ts';
import { listSentences } from './read-settings.ts';

export interface BuildState {
  readonly dist: string;
  /** What whoever called the command knows of sources beside the build; undefined where there are none. */
  readonly sources: 'built' | 'changed' | undefined;
}

export function checkBuild({ dist, sources }: BuildState): Finding {
  const about = 'Build';
  const [missing] = listSentences(() => readManifest(dist));
  if (missing !== undefined) {
    const advice = 'npm start builds where there is none.';
    return { about, mark: sources ? 'warning' : 'wrong', found: missing, ...(sources && { advice }) };
  }
  const { buildId, release } = readManifest(dist);
  const name = release === undefined ? buildId : `${buildId}, of ${release}`;
  if (sources !== 'changed') return toOk(about, `${name}.`);
  return {
    about,
    mark: 'warning',
    found: `${name}, and the sources are others by now.`,
    advice: 'npm start builds first; node dist/server/main.js serves what is built.',
  };
}
