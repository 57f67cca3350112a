import type { CommitShape } from '../../shared/shapes.ts';
import type { KnownBuild } from './build-table.ts';
import { type IncidentKey, splitKey } from './incident-key.ts';
import type { IncidentRelease } from './records.ts';

/** A commit in `commits.json`, which `build/commits.mjs` writes. */
type Commit = Omit<CommitShape, 'file' | 'line'> & {
  /** The lines that it changed, by file: the first and the last. */
  readonly lines: Readonly<Record<string, readonly (readonly [first: number, last: number])[]>>;
};

export interface SourceLine {
  readonly file: string;
  readonly line: number;
}

interface CommitTables {
  listReleases(key: IncidentKey): Promise<readonly IncidentRelease[]>;
  listDeployments(environment: string): Promise<readonly KnownBuild[]>;
  readBuildFile(build: string, path: string): Promise<Uint8Array | undefined>;
}

/** Finds the likely commit of a failure. */
export function createFindCommit({ listReleases, listDeployments, readBuildFile }: CommitTables) {
  async function readCommits(build: string | undefined): Promise<Commit[] | undefined> {
    const bytes = build === undefined ? undefined : await readBuildFile(build, 'commits.json');
    return bytes && (JSON.parse(Buffer.from(bytes).toString('utf8')) as Commit[]); // our own build wrote it
  }

  /**
   * Finds the latest commit that changed a line of a failure, of those that came with the release in which the incident
   * began or returned.
   *
   * @param build the build that the lines are from
   * @param lines the most important line first
   */
  return async function findCommit(
    key: IncidentKey,
    build: string,
    lines: readonly SourceLine[],
  ): Promise<CommitShape | undefined> {
    const [releases, deployments] = await Promise.all([listReleases(key), listDeployments(splitKey(key).environment)]);
    const began = releases.findLast(({ regressedAt }) => regressedAt !== undefined) ?? releases[0];
    const at = deployments.findIndex(({ id }) => id === began?.build);
    if (!began || at < 0) return undefined;
    const [all, until, before] = await Promise.all([build, began.build, deployments[at + 1]?.id].map(readCommits));
    const first = all?.findIndex(({ hash }) => hash === until?.[0]?.hash) ?? -1;
    const end = all?.findIndex(({ hash }) => hash === before?.[0]?.hash) ?? -1;
    if (first < 0) return undefined;
    const commits = all?.slice(first, end < 0 ? undefined : end) ?? [];
    for (const { file, line } of lines) {
      const found = commits.find(({ lines: changed }) =>
        changed[file]?.some(([from, to]) => from <= line && line <= to),
      );
      if (found) {
        const { lines: _lines, ...commit } = found;
        return { ...commit, file, line };
      }
    }
    return undefined;
  };
}
