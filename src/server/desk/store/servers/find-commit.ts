import type { CommitShape } from '../../../../shared/desk/shapes.ts';
import { type CallKey, splitKey } from '../incident-key.ts';
import { listReleases } from '../incidents/look-up.ts';
import type { StoreContext } from '../store-context.ts';
import { readBuildFile } from './build-table.ts';
import { listDeployments } from './environment-table.ts';

/** A commit in `commits.json`, which `build/commits.mjs` writes. */
type Commit = Omit<CommitShape, 'file' | 'line'> & {
  /** The lines that it changed, by file: the first and the last. */
  readonly lines: Readonly<Record<string, readonly (readonly [first: number, last: number])[]>>;
};

export interface SourceLine {
  readonly file: string;
  readonly line: number;
}

/**
 * Finds the latest commit that changed a line of a failure, of those that came with the release in which the incident
 * began or returned.
 *
 * @param build the build that the lines are from
 * @param places the most important line first
 */
export async function findCommit(
  context: StoreContext,
  key: CallKey,
  build: string,
  places: readonly SourceLine[],
): Promise<CommitShape | undefined> {
  const [releases, deployments] = await Promise.all([
    listReleases(context, key),
    listDeployments(context, splitKey(key).environment ?? context.home),
  ]);
  const began = releases.findLast(({ regressedAt }) => regressedAt !== undefined) ?? releases[0];
  const at = deployments.findIndex(({ id }) => id === began?.build);
  if (!began || at < 0) return undefined;
  const [all, until, before] = await Promise.all(
    [build, began.build, deployments[at + 1]?.id].map((id) => readCommits(context, id)),
  );
  const first = all?.findIndex(({ hash }) => hash === until?.[0]?.hash) ?? -1;
  const end = all?.findIndex(({ hash }) => hash === before?.[0]?.hash) ?? -1;
  if (first < 0) return undefined;
  const commits = all?.slice(first, end < 0 ? undefined : end) ?? [];
  for (const { file, line } of places) {
    const found = commits.find(({ lines }) => lines[file]?.some(([from, to]) => from <= line && line <= to));
    if (found) {
      const { lines: _lines, ...commit } = found;
      return { ...commit, file, line };
    }
  }
  return undefined;
}

async function readCommits(context: StoreContext, build: string | undefined): Promise<Commit[] | undefined> {
  const bytes = build === undefined ? undefined : await readBuildFile(context, build, 'commits.json');
  return bytes && (JSON.parse(Buffer.from(bytes).toString('utf8')) as Commit[]); // our own build wrote it
}

export const queries = { findCommit };
