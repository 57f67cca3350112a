import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A sentence for the person who runs the command. */
export class UpgradeError extends Error {}

/**
 * @typedef {object} GitOptions
 * @property {string} [input]
 * @property {Record<string, string>} [env]
 *
 * @typedef {ReturnType<typeof createGit>} Git
 */

/** @param {string} root */
export function createGit(root) {
  /**
   * @param {string[]} args
   * @param {GitOptions} [options]
   */
  function attempt(args, { input, env } = {}) {
    const { status, stdout, stderr, error } = spawnSync('git', ['-c', 'gc.auto=0', ...args], {
      cwd: root,
      encoding: 'utf8',
      input,
      env: { ...process.env, ...env },
      maxBuffer: 2 ** 30,
    });
    if (error) throw new UpgradeError(`git could not be started: ${error.message}`);
    return { ok: status === 0, out: stdout, err: stderr };
  }

  /**
   * @param {string[]} args
   * @param {GitOptions} [options]
   * @returns {string} its output, without the line end
   */
  function run(args, options) {
    const { ok, out, err } = attempt(args, options);
    if (!ok) throw new UpgradeError(`\`git ${args.join(' ')}\` failed: ${(err || out).trim()}`);
    return out.replace(/\n$/, '');
  }

  return {
    root,
    attempt,
    run,
    /** Returns what a revision names, or undefined. */
    resolve(/** @type {string} */ revision) {
      const { ok, out } = attempt(['rev-parse', '--verify', '--quiet', '--end-of-options', revision]);
      return ok ? out.trim() : undefined;
    },
    /** Lists the files of a tree: mode and id by path. */
    list(/** @type {string} */ tree) {
      const lines = run(['ls-tree', '-r', '-z', tree]).split('\0').filter(Boolean);
      return new Map(
        lines.map((line) => {
          const [, mode, id, path] = /^(\d+) \w+ (\w+)\t([\s\S]+)$/.exec(line) ?? [];
          return [path, { mode, id }];
        }),
      );
    },
    read: (/** @type {string} */ id) => attempt(['cat-file', 'blob', id]).out,
    write: (/** @type {string} */ text) => run(['hash-object', '-w', '--stdin'], { input: text }),
    /** Writes a tree of files, as `list` returns them. */
    writeTree(/** @type {Map<string, { mode: string, id: string }>} */ files) {
      return inFolder((folder) => {
        const env = { GIT_INDEX_FILE: join(folder, 'index') };
        const lines = [...files].map(([path, { mode, id }]) => `${mode} ${id}\t${path}\0`);
        run(['update-index', '-z', '--index-info'], { input: lines.join(''), env });
        return run(['write-tree'], { env });
      });
    },
    /** Writes a tree of the files in a folder outside the repository. */
    writeFolder(/** @type {string} */ source) {
      return inFolder((folder) => {
        const env = { GIT_INDEX_FILE: join(folder, 'index') };
        const gitFolder = run(['rev-parse', '--absolute-git-dir']);
        const from = [`--git-dir=${gitFolder}`, `--work-tree=${source}`];
        run(['-C', source, ...from, 'add', '--all', '--', '.'], { env });
        return run(['write-tree'], { env });
      });
    },
  };
}

/**
 * Runs a function with a temporary folder.
 *
 * @template T
 * @param {(folder: string) => T} use
 */
export function inFolder(use) {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-upgrade-'));
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
