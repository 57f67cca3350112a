import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { CommandError } from '../command.mjs';

/**
 * @typedef {object} GitOptions
 * @property {string | Buffer} [input]
 * @property {Record<string, string>} [env]
 * @property {'utf8' | 'latin1'} [encoding] of the output
 * @property {boolean} [withErrors] also returns what it prints to standard error
 * @property {boolean} [canFail] returns an empty text if it fails
 *
 * @typedef {(args: string[], options?: GitOptions) => string} Git Runs git and returns what it prints.
 */

/**
 * @param {string} folder
 * @returns {Git}
 */
export function createGit(folder) {
  return function git(args, { input, env, encoding = 'utf8', withErrors = false, canFail = false } = {}) {
    const options = { cwd: folder, input, env: { ...process.env, ...env }, encoding, maxBuffer: 2 ** 30 };
    const { status, stdout, stderr, error } = spawnSync('git', args, options);
    if (status === 0) return withErrors ? stdout + stderr : stdout;
    if (canFail) return '';
    throw new CommandError(`\`git ${args.join(' ')}\` failed: ${error?.message ?? (stderr || stdout).trim()}`);
  };
}

/**
 * Verifies the SSH signature of a tag. PGP signatures do not count, because git would accept any key of the user's
 * keyring.
 *
 * @param {Git} git
 * @param {string} ref where the tag is
 * @param {string} name that the tag must have, so that an old release cannot be offered as a new one
 * @param {string} signers the text of an allowed signers file
 * @returns {string | undefined} who signed it
 */
export function findSigner(git, ref, name, signers) {
  const file = `${git(['rev-parse', '--absolute-git-dir']).trim()}/spillway-signers`;
  try {
    // It fails without a tag object, and below if no listed key made the signature.
    const tag = git(['cat-file', 'tag', ref], { canFail: true });
    const [head] = tag.split('\n\n', 1);
    const signatures = tag.match(/^-----BEGIN .*-----$/gm)?.join();
    if (!head.split('\n').includes(`tag ${name}`) || signatures !== '-----BEGIN SSH SIGNATURE-----') return undefined;
    writeFileSync(file, signers);
    const settings = ['gpg.ssh.program=ssh-keygen', 'gpg.minTrustLevel=fully', `gpg.ssh.allowedSignersFile=${file}`];
    const args = [...settings.flatMap((setting) => ['-c', setting]), 'verify-tag', '--raw', ref];
    const said = git(args, { env: { LC_ALL: 'C' }, withErrors: true, canFail: true });
    return /^Good "git" signature for (\S+) /m.exec(said)?.[1];
  } finally {
    rmSync(file, { force: true });
  }
}
