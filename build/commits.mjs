import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findWorkspace, toRelative } from './files.mjs';

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
 * Reads the latest commits of the project, or of its workspace, newest first. Their files are named as in frames: those
 * of the project relative to it, others relative to the workspace. The first commit of a repository, or of a shallow clone, is left out, because
 * it seems to have written everything.
 *
 * @param {string} root
 * @returns {Promise<Commit[]>} empty without Git or outside of a repository
 */
export async function readCommits(root) {
  // A project with its own repository, such as a submodule, has only its own commits.
  const cwd = existsSync(join(root, '.git')) ? root : findWorkspace(root);
  const git = (...options) =>
    promisify(execFile)('git', ['-c', 'core.quotePath=false', ...options], { cwd, ...limits });
  try {
    const [{ stdout: log }, { stdout: uncommitted }] = await Promise.all([
      git(
        ...['-c', 'log.showRoot=false', 'log', `-${mostCommits}`, '--first-parent', '-m'],
        ...[...diffOptions, '--format=%x00%H%x00%an%x00%ct%x00%s%x00', '--', ...codeFiles],
      ),
      git('diff', ...diffOptions, 'HEAD', '--', ...codeFiles),
    ]);
    return toCommits(log, uncommitted, cwd === root ? '' : `${toRelative(cwd, root)}/`);
  } catch {
    return [];
  }
}

function toCommits(log, uncommitted, own) {
  const parts = [...log.matchAll(/\0([0-9a-f]{40,64})\0([^\0]*)\0(\d+)\0([^\0]*)\0([^\0]*)/g)];
  const commits = parts.map(([, hash, author, seconds, subject]) => {
    return { hash, author, at: Number(seconds) * 1000, subject, lines: {} };
  });
  /** By file: the commits that changed each line. */
  let files = new Map();
  for (const [index, commit] of [...commits.entries()].reverse()) files = applyDiff(files, parts[index][5], [commit]);
  for (const [path, lines] of applyDiff(files, uncommitted, [])) {
    const file = path.startsWith(own) ? path.slice(own.length) : path;
    for (const [index, changedBy] of lines.entries()) {
      for (const { lines } of changedBy ?? []) addLine(lines, file, index + 1);
    }
  }
  return commits;
}

function addLine(rangesByFile, file, line) {
  const ranges = rangesByFile[file] ?? [];
  const last = ranges.at(-1);
  if (last?.[1] >= line - 1) last[1] = line;
  else rangesByFile[file] = [...ranges, [line, line]];
}

/** Replaces the lines that a diff changed. Those around lines that it only removed are changed too. */
function applyDiff(files, diff, changedBy) {
  const after = new Map(files);
  for (const { from, to, hunks } of parseDiff(diff)) {
    if (from !== to) after.delete(from);
    if (to === undefined) continue;
    let lines = files.get(from) ?? [];
    for (const [oldCount, start, count] of hunks) {
      // Git names the line before a removal.
      const at = count > 0 ? start - 1 : start;
      const before = Array.from({ length: at }, (_, index) => lines[index]);
      lines = [...before, ...Array(count).fill(changedBy), ...lines.slice(at + oldCount)];
      const around = count > 0 ? [] : [Math.max(at - 1, 0), at];
      for (const index of around) lines[index] = [...(lines[index] ?? []), ...changedBy];
    }
    after.set(to, lines);
  }
  return after;
}

/**
 * Parses the output of Git with `-U0`. A file that was added has no `from`, one that was deleted no `to`. Of each hunk, it
 * returns the number of old lines, and the first and the number of new ones.
 */
function parseDiff(diff) {
  return diff.split(/^diff --git /m).map((change) => {
    const find = (header) => header.exec(change)?.[1];
    const hunks = change.matchAll(/^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/gm);
    return {
      from: find(/^(?:--- a\/|rename from )([^\t\n]+)/m),
      to: find(/^(?:\+\+\+ b\/|rename to )([^\t\n]+)/m),
      hunks: [...hunks].map(([, ...numbers]) => numbers.map((number = '1') => Number(number))),
    };
  });
}
