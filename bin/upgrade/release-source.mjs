import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { inFolder, UpgradeError } from './git.mjs';
import { compareVersions, isVersion, unsignedReleases } from './versions.mjs';

export const signersPath = 'bin/upgrade/allowed-signers';

/**
 * @typedef {object} Release
 * @property {string} version as in its package.json
 * @property {string} tree the id of its files in this repository
 * @property {string} [commit] undefined if it does not come from git
 * @property {string} [signer] who signed it
 */

/**
 * Fetches the release to upgrade to. Nothing of it runs before its signature is verified.
 *
 * @param {import('./git.mjs').Git} git
 * @param {{ wanted: string | undefined, from: string, allowUnsigned: boolean }} options `from` is a git URL, a folder or
 *   an archive
 * @returns {Release}
 */
export function fetchRelease(git, { wanted, from, allowUnsigned }) {
  const path = resolve(git.root, from);
  const isFile = existsSync(path);
  if (isFile && !isRepository(path)) {
    if (!allowUnsigned) {
      throw new UpgradeError(
        `${from} has no signature, because it is not a git repository. If you trust it, add --allow-unsigned.`,
      );
    }
    return checkVersion(readRelease(git, readFiles(git, path)), wanted);
  }
  const url = isFile ? path : from;
  if (!wanted) {
    const newest = listVersions(git, url).sort(compareVersions).at(-1) ?? '<version>';
    throw new UpgradeError(`Say which version to upgrade to, such as the newest: \`npm run upgrade -- ${newest}\`.`);
  }
  const found = findRef(
    git,
    url,
    isVersion(wanted) ? [`refs/tags/v${wanted}`] : [`refs/tags/${wanted}`, `refs/heads/${wanted}`],
  );
  const id = found ?? (/^[0-9a-f]{40}$/.test(wanted) ? wanted : unsignedReleases[wanted]);
  if (!id) throw new UpgradeError(`${from} has no release ${wanted}: there is no tag v${wanted}.`);
  fetchObject(git, url, id);
  const signer = allowUnsigned ? undefined : verifyTag(git, id, wanted);
  return checkVersion({ ...readCommit(git, id), signer }, wanted);
}

/**
 * Finds the release that an app is based on. Nothing of it runs.
 *
 * @param {import('./git.mjs').Git} git
 * @param {string} wanted a version, a commit, a folder or an archive
 * @param {string | undefined} from the git URL to fetch it from, if this repository does not have it
 * @returns {Release}
 */
export function fetchBase(git, wanted, from) {
  const path = resolve(git.root, wanted);
  if (!isVersion(wanted) && existsSync(path)) return readRelease(git, readFiles(git, path));
  const url = from && toUrl(git, from);
  const released = isVersion(wanted)
    ? (unsignedReleases[wanted] ?? (url && findRef(git, url, [`refs/tags/v${wanted}`])))
    : wanted;
  const id = released && (git.resolve(`${released}^{commit}`) ?? released);
  if (!id || (!git.resolve(`${id}^{commit}`) && !url)) {
    throw new UpgradeError(
      `Your app is based on Spillway ${wanted}, which cannot be found${from ? ` in ${from}` : ''}. Name its commit, folder or archive with --base.`,
    );
  }
  if (!git.resolve(`${id}^{commit}`)) fetchObject(git, url, id);
  return readCommit(git, id);
}

/** A local repository can be given relative to the app. */
function toUrl(git, from) {
  const path = resolve(git.root, from);
  return existsSync(path) ? path : from;
}

function isRepository(path) {
  return statSync(path).isDirectory() && ['.git', 'HEAD'].some((name) => existsSync(join(path, name)));
}

/** Returns the id of the first of these refs that exists there. */
function findRef(git, url, refs) {
  const lines = git.run(['ls-remote', '--', url, ...refs]).split('\n');
  const ids = new Map(lines.map((line) => line.split('\t').reverse()));
  return refs.map((ref) => ids.get(ref)).find((id) => id !== undefined);
}

function listVersions(git, url) {
  const tags = git.run(['ls-remote', '--refs', '--', url, 'refs/tags/v*']).split('\n');
  return tags.map((line) => line.replace(/^.*\/v/, '')).filter(isVersion);
}

function fetchObject(git, url, id) {
  git.run(['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--', url, id]);
}

/** Writes the files of a folder or an archive into this repository, and returns their tree. */
function readFiles(git, path) {
  if (statSync(path).isDirectory()) return git.writeFolder(path);
  return inFolder((folder) => {
    const { status, stderr } = spawnSync('tar', ['-xf', path, '-C', folder], { encoding: 'utf8' });
    if (status !== 0) throw new UpgradeError(`${path} could not be unpacked: ${stderr}`);
    // Archives from GitHub have one folder at the top.
    const names = readdirSync(folder);
    return git.writeFolder(existsSync(join(folder, 'package.json')) ? folder : join(folder, names[0] ?? ''));
  });
}

function readCommit(git, id) {
  const commit = git.run(['rev-parse', `${id}^{commit}`]);
  return { ...readRelease(git, git.run(['rev-parse', `${commit}^{tree}`])), commit };
}

function readRelease(git, tree) {
  const { ok, out } = git.attempt(['cat-file', 'blob', `${tree}:package.json`]);
  const version = ok ? JSON.parse(out).version : undefined;
  if (!isVersion(version))
    throw new UpgradeError('That is not a release of Spillway: its package.json has no version.');
  return { version, tree };
}

function checkVersion(release, wanted) {
  if (isVersion(wanted) && release.version !== wanted) {
    throw new UpgradeError(`That is not version ${wanted}: its package.json says ${release.version}.`);
  }
  return release;
}

/**
 * Verifies the signature of a release's tag with the keys in the app, or in this command if the app has no list of
 * keys yet. Only SSH signatures count: git would accept any key of the user's PGP keyring.
 *
 * @returns {string} the name of the signer
 */
export function verifyTag(git, id, version) {
  const refuse = (reason) => {
    throw new UpgradeError(
      `The signature of v${version} cannot be verified: ${reason} Nothing was changed. If you trust where it comes from, add --allow-unsigned.`,
    );
  };
  const { ok, out: tag } = git.attempt(['cat-file', 'tag', id]);
  if (!ok) return refuse('it is not a signed tag.');
  // Otherwise an old release with its valid signature could be offered under a new name.
  if (!tag.split('\n\n', 1)[0]?.split('\n').includes(`tag v${version}`))
    return refuse('the tag was made for another name.');
  const signatures = tag.match(/^-----BEGIN .*-----$/gm) ?? [];
  if (signatures.length !== 1 || signatures[0] !== '-----BEGIN SSH SIGNATURE-----')
    return refuse('it has no SSH signature.');
  const known = git.attempt(['cat-file', 'blob', `HEAD:${signersPath}`]);
  const signers = known.ok ? known.out : readFileSync(new URL('allowed-signers', import.meta.url), 'utf8');
  return inFolder((folder) => {
    const file = join(folder, 'allowed-signers');
    writeFileSync(file, signers);
    const settings = ['gpg.ssh.program=ssh-keygen', 'gpg.minTrustLevel=fully', `gpg.ssh.allowedSignersFile=${file}`];
    const verified = git.attempt([...settings.flatMap((setting) => ['-c', setting]), 'verify-tag', '--raw', id], {
      env: { LC_ALL: 'C' },
    });
    const signer = /^Good "git" signature for (\S+) /m.exec(verified.err + verified.out)?.[1];
    if (!verified.ok || !signer) return refuse(`no key in ${signersPath} made it.`);
    return signer;
  });
}
