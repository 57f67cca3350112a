import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { findLockfile } from '../../build/files.mjs';
import { CommandError, readArguments } from '../command.mjs';
import { applyFiles } from './apply-files.mjs';
import { createGit } from './git.mjs';
import { mergeManifest } from './merge-manifest.mjs';
import { readOrigin, spillwayFile, writeJson, writeOrigin } from './spillway-file.mjs';

const usage = 'Usage: npm run upgrade -- <tag> [--from <git URL>] [--base <tag or commit>] [--allow-unsigned]';
const options = { from: { type: 'string' }, base: { type: 'string' }, 'allow-unsigned': { type: 'boolean' } };
/** Apart from your tags. */
const toRef = (tag) => `refs/spillway/${tag}`;

/**
 * Upgrades an app: stages what changed between its release of Spillway and another one, without your own files.
 *
 * @param {string[]} args
 * @throws CommandError
 */
export function upgrade(args) {
  const { values, positionals } = readArguments(args, options, usage);
  if (positionals.length !== 1) throw new CommandError(usage);
  const tag = positionals[0].replace(/^(?=\d)/, 'v');
  const folder = process.cwd();
  const [top, prefix] = createGit(folder)(['rev-parse', '--show-toplevel', '--show-prefix']).split('\n');
  const git = createGit(top);
  if (git(['status', '--porcelain', '--untracked-files=no']) !== '') {
    throw new CommandError('There are uncommitted changes. Commit or stash them first, so that you can go back.');
  }
  const origin = readOrigin(folder);
  const readRemote = (name) => git(['config', `remote.${name}.url`], { canFail: true }).trim();
  const upstream = values.from ?? origin.upstream ?? (readRemote('upstream') || readRemote('origin'));
  if (!upstream) throw new CommandError('Say where Spillway comes from: add --from with its git URL.');

  // Nothing of the new release runs before its signature is verified.
  const next = fetchTag(git, upstream, tag);
  if (values['allow-unsigned']) console.log(`The signature of ${tag} was not verified.`);
  else requireSignature(git, tag, join(folder, 'bin/upgrade/allowed-signers'));
  const base = findBase(git, { named: values.base, origin, upstream, next });
  if (base === next) throw new CommandError(`Your app already has ${tag}.`);

  const trees = [`${base}:`, `HEAD:${prefix}`, `${next}:`];
  const [before, own, after] = trees.map((tree) => readJson(git, `${tree}package.json`));
  if (before?.name !== after.name) {
    throw new CommandError(
      `${values.base ?? base} is not a release of Spillway. Name the one that you have with --base.`,
    );
  }
  const [, lock, newLock] = trees.map((tree) => readJson(git, `${tree}package-lock.json`));
  const { merged, conflicts } = mergeManifest(before, own, after);
  const { marked, kept } = applyFiles(git, trees, prefix);
  writeJson(join(folder, 'package.json'), merged);
  writeOrigin(folder, { version: after.version, base: next, upstream });
  git(['add', '--', `${prefix}package.json`, prefix + spillwayFile]);

  console.log(
    `Staged what changed from Spillway ${before.version} to ${after.version}. CHANGELOG.md says what you have to do.`,
  );
  const mine = `The release removed, moved or added these, and you have your own. See \`git show ${toRef(tag)}:<file>\`:`;
  const lists = { 'Files with conflicts:': marked, 'package.json keeps your values:': conflicts, [mine]: kept };
  for (const [title, lines] of Object.entries(lists)) {
    if (lines.length > 0) console.log(['', title, ...lines].join('\n  '));
  }

  const [, manager] = /(pnpm|yarn|bun)[^/]*$/.exec(findLockfile(folder).join()) ?? [];
  const install = manager ? `${manager} install` : lock ? 'npm ci' : 'npm install';
  const check = `\`${install} && ${manager ?? 'npm'} run check\``;
  const back = `\nTo go back: git reset --hard && ${install}`;
  const execute = (command) => {
    console.log(`\n$ ${command}`);
    const { status } = spawnSync(command, { cwd: folder, stdio: 'inherit', shell: true });
    if (status !== 0) throw new CommandError(`\n\`${command}\` failed. Fix the reason and run it again.${back}`);
  };
  if (lock) {
    // npm completes the packages of both, and removes those that nothing needs.
    const packages = { ...lock.packages, ...newLock.packages };
    writeJson(join(folder, 'package-lock.json'), { ...newLock, packages });
    execute('npm install --package-lock-only --ignore-scripts');
    git(['add', '--', `${prefix}package-lock.json`]);
  }
  if (marked.length > 0) {
    throw new CommandError(`\nResolve the conflicts, \`git add\` the files, and run ${check}.${back}`);
  }
  if (manager) return console.log(`\nRun ${check} and your tests, and commit everything.${back}`);
  execute(install);
  execute('npm run check');
  console.log(`\nYour app passes \`npm run check\`. Run \`npm test\`, and commit what is staged.${back}`);
}

/** @returns the tag's commit */
function fetchTag(git, upstream, tag, options = {}) {
  git(['fetch', '--quiet', '--no-tags', '--', upstream, `+refs/tags/${tag}:${toRef(tag)}`], options);
  return git(['rev-parse', '--verify', '--quiet', `${toRef(tag)}^{commit}`], options).trim();
}

/**
 * Verifies the SSH signature of a tag. PGP signatures do not count, because git would accept any key of the user's
 * keyring. Neither does a tag of another name, so that an old release cannot be offered as a new one.
 */
function requireSignature(git, tag, signers) {
  const programs = ['gpg.ssh.program=ssh-keygen', 'gpg.program=false', 'gpg.x509.program=false'];
  const settings = [...programs, 'gpg.minTrustLevel=fully', `gpg.ssh.allowedSignersFile=${signers}`];
  const verify = [...settings.flatMap((setting) => ['-c', setting]), 'verify-tag', '--format=%(tag)', toRef(tag)];
  if (git(verify, { canFail: true }).trim() === tag) return console.log(`The signature of ${tag} is valid.`);
  throw new CommandError(
    `The signature of ${tag} cannot be verified: it needs a tag of this name with an SSH signature, made by a key in bin/upgrade/allowed-signers.\nNothing was changed. If you trust where it comes from, add --allow-unsigned.`,
  );
}

/** Returns the commit of the release that the app is based on. */
function findBase(git, { named, origin, upstream, next }) {
  const ask = (...args) => git(args, { canFail: true }).trim();
  const name = named ?? `v${origin.version}`;
  const fetchBase = () => fetchTag(git, upstream, name, { canFail: true });
  const known = named ?? origin.base;
  const findKnown = () =>
    known ? ask('rev-parse', '--verify', '--end-of-options', `${known}^{commit}`) : ask('merge-base', 'HEAD', next);
  const base = (named && fetchBase()) || findKnown() || fetchBase();
  if (base) return base;
  throw new CommandError(`${upstream} has no ${name}, which your app is based on. Name its tag or commit with --base.`);
}

/** Returns undefined if there is no such file. */
function readJson(git, path) {
  const text = git(['show', path], { canFail: true });
  return text ? JSON.parse(text) : undefined;
}
