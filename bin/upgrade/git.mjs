import { spawnSync } from 'node:child_process';
import { CommandError } from '../command.mjs';

/**
 * @typedef {(args: string[], options?: { input?: Buffer, encoding?: 'utf8' | 'latin1', canFail?: boolean }) => string} Git
 *   Runs git and returns what it prints. With `canFail`, that is an empty text if it fails.
 *
 * @param {string} folder
 * @returns {Git}
 */
export function createGit(folder) {
  return function git(args, { input, encoding = 'utf8', canFail = false } = {}) {
    const options = { cwd: folder, input, encoding, maxBuffer: 2 ** 30 };
    const { status, stdout, stderr, error } = spawnSync('git', args, options);
    if (status === 0) return stdout;
    if (canFail) return '';
    throw new CommandError(`\`git ${args.join(' ')}\` failed: ${error?.message ?? (stderr || stdout).trim()}`);
  };
}
