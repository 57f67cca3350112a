import { isProductCode } from '#engine/tracker';
import type { CommitShape } from '../../shared/shapes.ts';
import type { BuildRecord, BuildTable } from './build-table.ts';
import type { IncidentRelease, StoredFailure } from './records.ts';

/** A commit in `commits.json`, which `build/commits.mjs` writes. */
type Commit = Omit<CommitShape, 'file' | 'line'> & {
  /** The lines that it changed, by file: the first and the last. */
  readonly lines: Readonly<Record<string, readonly (readonly [first: number, last: number])[]>>;
};

interface SourceLine {
  readonly file: string;
  readonly line: number;
}

interface FailedLines {
  /** The build that the lines are from. */
  readonly build: string;
  /** The most important line first. */
  readonly lines: readonly SourceLine[];
  /** The releases of the incident, and the builds that were started in its environment. */
  readonly releases: readonly IncidentRelease[];
  readonly deployments: readonly BuildRecord[];
}

/** Lists the lines of the app that a failure passed, the one that threw first. */
export function listLines({ resolved = [] }: Pick<StoredFailure, 'resolved'> = {}): SourceLine[] {
  return resolved
    .toReversed()
    .flat()
    .filter(({ file, line, own }) => own && line > 0 && isProductCode(file));
}

/**
 * Finds the latest commit that changed a line of a failure. The commit belongs to the release in which the incident began
 * or returned.
 */
export async function findCommit(
  { readBuildFile }: Pick<BuildTable, 'readBuildFile'>,
  { build, lines, releases, deployments }: FailedLines,
): Promise<CommitShape | undefined> {
  const began = releases.findLast(({ regressedAt }) => regressedAt !== undefined) ?? releases[0];
  const at = deployments.findIndex(({ id }) => id === began?.build);
  const [thrower] = lines;
  if (!thrower || !began || at < 0) return undefined;
  const [all, until, before] = await Promise.all([build, began.build, deployments[at + 1]?.id].map(readCommits));
  const first = all?.findIndex(({ hash }) => hash === until?.[0]?.hash) ?? -1;
  const end = all?.findIndex(({ hash }) => hash === before?.[0]?.hash) ?? -1;
  if (first < 0 || !all?.some(({ lines: changed }) => Object.keys(changed).some(isNearThrower))) return undefined;
  const commits = all?.slice(first, end < 0 ? undefined : end) ?? [];
  for (const { file, line } of lines) {
    const found = commits.find(({ lines: changed }) => changed[file]?.some(([from, to]) => from <= line && line <= to));
    if (found) {
      const { lines: _lines, ...commit } = found;
      return { ...commit, file, line };
    }
  }
  return undefined;

  /** If no commit changed such a file, the list lacks the code that threw, and would only blame its callers. */
  function isNearThrower(file: string): boolean {
    return file.split('/')[0] === thrower?.file.split('/')[0];
  }

  async function readCommits(of: string | undefined): Promise<Commit[] | undefined> {
    const bytes = of === undefined ? undefined : await readBuildFile(of, 'commits.json');
    return bytes && (JSON.parse(Buffer.from(bytes).toString('utf8')) as Commit[]); // our own build wrote it
  }
}
