import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** The latest commits that are recorded, of those that changed code. */
const mostCommits = 50;

/** Git that takes longer, or writes more, is not worth the wait (ms, bytes). */
const limits = { timeout: 20_000, maxBuffer: 256 * 1024 * 1024 };

/** Independent of the settings of the user. A merge counts as one commit, because its lines then form one history. */
const diffOptions = [
  ...['-p', '-U0', '-M', '--no-color', '--no-ext-diff', '--no-textconv', '--relative'],
  // So that no line of a file looks like a header.
  ...['--src-prefix=a/', '--dst-prefix=b/', '--output-indicator-old=<', '--output-indicator-new=>'],
];
const codeFiles = ['js', 'jsx', 'ts', 'tsx', 'mjs', 'cjs', 'mts', 'cts'].map((ending) => `*.${ending}`);

/**
 * @typedef {object} Commit
 * @property {string} hash
 * @property {string} author
 * @property {number} at when it was committed (ms since 1970)
 * @property {string} subject
 * @property {Record<string, [number, number][]>} lines the lines that it changed, by file, as they are numbered now. For
 *   lines that it only removed, the two around them
 */

/**
 * Reads the latest commits, newest first. The first commit of a repository, or of a shallow clone, is left out, because
 * it seems to have written everything.
 *
 * @param {string} root
 * @returns {Promise<Commit[]>} empty without Git or outside of a repository
 */
export async function readCommits(root) {
  const git = (...options) =>
    promisify(execFile)('git', ['-c', 'core.quotePath=false', ...options], { cwd: root, ...limits });
  try {
    const [{ stdout: log }, { stdout: uncommitted }] = await Promise.all([
      git(
        ...['-c', 'log.showRoot=false', 'log', `-${mostCommits}`, '--first-parent', '-m'],
        ...[...diffOptions, '--format=%x00%H%x00%an%x00%ct%x00%s%x00', '--', ...codeFiles],
      ),
      git('diff', ...diffOptions, 'HEAD', '--', ...codeFiles),
    ]);
    return toCommits(log, uncommitted);
  } catch {
    return [];
  }
}

function toCommits(log, uncommitted) {
  const parts = [...log.matchAll(/\0([0-9a-f]{40,64})\0([^\0]*)\0(\d+)\0([^\0]*)\0([^\0]*)/g)];
  const commits = parts.map(([, hash, author, seconds, subject]) => {
    return { hash, author, at: Number(seconds) * 1000, subject, lines: {} };
  });
  /** By file: the lines that each commit changed, oldest commit first. */
  let files = new Map();
  for (const [index, commit] of [...commits.entries()].reverse()) files = applyDiff(files, parts[index][5], commit);
  files = applyDiff(files, uncommitted, undefined);
  for (const [file, ranges] of files) {
    for (const { commit, start, end } of ranges) {
      commit.lines[file] ??= [];
      commit.lines[file].push([start, end]);
    }
  }
  return commits;
}

/** Moves known lines to where they are after a diff, and adds the lines that it changed, unless no commit has them. */
function applyDiff(files, diff, commit) {
  const after = new Map(files);
  for (const { from, to, hunks } of parseDiff(diff)) {
    if (from !== to) after.delete(from);
    if (to === undefined) continue;
    const moved = (files.get(from) ?? []).flatMap((range) => moveRange(range, hunks));
    const changed = hunks.map(({ start, count }) => {
      return { commit, start: Math.max(start, 1), end: count > 0 ? start + count - 1 : start + 1 };
    });
    after.set(to, commit ? [...moved, ...changed] : moved);
  }
  return after;
}

/** @returns the parts of a range that a diff leaves, as they are numbered after it */
function moveRange({ commit, start, end }, hunks) {
  const parts = [];
  let next = start;
  let shift = 0;
  for (const hunk of [...hunks, { oldStart: Number.POSITIVE_INFINITY, oldCount: 1, count: 1 }]) {
    // Git names the line before an insertion.
    const first = hunk.oldCount > 0 ? hunk.oldStart : hunk.oldStart + 1;
    const last = Math.min(end, first - 1);
    if (next <= last) parts.push({ commit, start: next + shift, end: last + shift });
    next = Math.max(next, first + hunk.oldCount);
    shift += hunk.count - hunk.oldCount;
    if (next > end) break;
  }
  return parts;
}

/** Parses the output of Git with `-U0`. A file that was added has no `from`, one that was deleted no `to`. */
function parseDiff(diff) {
  return diff.split(/^diff --git /m).map((change) => {
    const find = (header) => header.exec(change)?.[1];
    const hunks = change.matchAll(/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/gm);
    return {
      from: find(/^(?:--- a\/|rename from )([^\t\n]+)/m),
      to: find(/^(?:\+\+\+ b\/|rename to )([^\t\n]+)/m),
      hunks: [...hunks].map((hunk) => {
        const [oldStart, oldCount, start, count] = hunk.slice(1).map((number = '1') => Number(number));
        return { oldStart, oldCount, start, count };
      }),
    };
  });
}
