import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Its message is for the person who runs the command. */
export class CommandError extends Error {}

/**
 * @typedef {object} GitOptions
 * @property {string | Buffer} [input]
 * @property {Record<string, string>} [env]
 * @property {'utf8' | 'latin1'} [encoding] of the output
 * @property {boolean} [withErrors] also returns what it prints to standard error
 *
 * @typedef {(args: string[], options?: GitOptions) => string} Git Runs git and returns what it prints.
 */

/**
 * @param {string} folder
 * @returns {Git}
 */
export function createGit(folder) {
  return function git(args, { input, env, encoding = 'utf8', withErrors = false } = {}) {
    const options = { cwd: folder, input, env: { ...process.env, ...env }, encoding, maxBuffer: 2 ** 30 };
    const { status, stdout, stderr, error } = spawnSync('git', args, options);
    if (status === 0) return withErrors ? stdout + stderr : stdout;
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
 * @returns {string} who signed it
 * @throws CommandError
 */
export function verifyTag(git, ref, name, signers) {
  const refuse = (reason) => {
    throw new CommandError(`The signature of ${name} cannot be verified: ${reason}`);
  };
  if (git(['cat-file', '-t', ref]).trim() !== 'tag') return refuse('it is not a signed tag.');
  const tag = git(['cat-file', 'tag', ref]);
  if (!tag.split('\n\n', 1)[0].split('\n').includes(`tag ${name}`)) return refuse('the tag was made for another name.');
  const signatures = tag.match(/^-----BEGIN .*-----$/gm) ?? [];
  if (signatures.join() !== '-----BEGIN SSH SIGNATURE-----') return refuse('it has no SSH signature.');
  const folder = mkdtempSync(join(tmpdir(), 'spillway-signers-'));
  try {
    const file = join(folder, 'allowed-signers');
    writeFileSync(file, signers);
    const settings = ['gpg.ssh.program=ssh-keygen', 'gpg.minTrustLevel=fully', `gpg.ssh.allowedSignersFile=${file}`];
    const args = [...settings.flatMap((setting) => ['-c', setting]), 'verify-tag', '--raw', ref];
    const [, signer] =
      /^Good "git" signature for (\S+) /m.exec(git(args, { env: { LC_ALL: 'C' }, withErrors: true })) ?? [];
    if (signer) return signer;
  } catch {
    // git fails if no listed key made the signature.
  } finally {
    rmSync(folder, { recursive: true });
  }
  return refuse('no key in bin/upgrade/allowed-signers made it.');
}
