import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { applyFiles } from './apply-files.mjs';
import { CommandError, createGit, verifyTag } from './git.mjs';
import { mergeManifest } from './merge-manifest.mjs';
import { readOrigin, spillwayFile, writeJson, writeOrigin } from './spillway-file.mjs';

const usage = 'Usage: npm run upgrade -- <tag> [--from <git URL>] [--base <tag or commit>] [--allow-unsigned]';

/**
 * Upgrades an app: stages what changed between its release of Spillway and another one, without your own files.
 *
 * @param {string[]} args
 * @param {string} folder of the app
 * @returns {number} the exit code
 */
export function upgrade(args, folder, log = console.log) {
  try {
    return run(readArgs(args), folder, log);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    console.error(error.message);
    return 1;
  }
}

function readArgs(args) {
  const options = { from: { type: 'string' }, base: { type: 'string' }, 'allow-unsigned': { type: 'boolean' } };
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    if (positionals.length === 1) return { ...values, tag: positionals[0].replace(/^(?=\d)/, 'v') };
  } catch {
    // Answered like a wrong number of arguments.
  }
  throw new CommandError(usage);
}

function run({ tag, from, base: named, 'allow-unsigned': isUnsigned }, folder, log) {
  const [top, prefix] = createGit(folder)(['rev-parse', '--show-toplevel', '--show-prefix']).split('\n');
  const git = createGit(top);
  if (git(['status', '--porcelain', '--untracked-files=no']) !== '') {
    throw new CommandError('There are uncommitted changes. Commit or stash them first, so that you can go back.');
  }
  const origin = readOrigin(folder);
  const upstream = from ?? origin.upstream ?? findRemote(git);
  if (!upstream) throw new CommandError('Say where Spillway comes from: add --from with its git URL.');

  // Nothing of the new release runs before its signature is verified.
  const next = fetchTag(git, upstream, tag);
  log(isUnsigned ? `The signature of ${tag} was not verified.` : `${tag} is signed by ${verify(git, tag, prefix)}.`);
  const base = findBase(git, { named, origin, upstream, next });
  if (base === next) throw new CommandError(`Your app already has ${tag}.`);

  const trees = [`${base}:`, `HEAD:${prefix}`, `${next}:`];
  const readAll = (name) => trees.map((tree) => readJson(git, tree + name));
  const [before, own, after] = readAll('package.json');
  const [, lock, newLock] = readAll('package-lock.json');
  const { merged, conflicts } = mergeManifest(before, own, after);
  const { marked, kept } = applyFiles(git, { base, next, prefix });
  writeJson(join(folder, 'package.json'), merged);
  writeOrigin(folder, { version: after.version, base: next, upstream });
  git(['add', '--', `${prefix}package.json`, prefix + spillwayFile]);
  log(describe({ versions: [before.version, after.version], tag, marked, kept, conflicts }));

  const install = lock ? 'npm ci' : 'npm install';
  const back = `\nTo go back: git reset --hard && ${install}`;
  if (lock) {
    // npm completes the packages of both, and removes those that nothing needs.
    const packages = { ...lock.packages, ...newLock.packages };
    writeJson(join(folder, 'package-lock.json'), { ...newLock, packages });
    execute('npm install --package-lock-only --ignore-scripts', { folder, log, back });
    git(['add', '--', `${prefix}package-lock.json`]);
  }
  if (marked.length > 0) {
    throw new CommandError(
      `\nResolve the conflicts, \`git add\` the files, and run \`${install} && npm run check\`.${back}`,
    );
  }
  for (const command of [install, 'npm run check']) execute(command, { folder, log, back });
  log(`\nYour app passes \`npm run check\`. Run \`npm test\`, and commit what is staged.${back}`);
  return 0;
}

/** Returns the URL of the remote that a clone usually has Spillway as. */
function findRemote(git) {
  const lines = git(['remote', '--verbose']).split('\n');
  const urls = new Map(lines.map((line) => line.split(/[\t ]/, 2)));
  return urls.get('upstream') ?? urls.get('origin');
}

/** Fetches a tag, apart from your tags. @returns its commit */
function fetchTag(git, upstream, tag) {
  git(['fetch', '--quiet', '--no-tags', '--', upstream, `+refs/tags/${tag}:${toRef(tag)}`]);
  return git(['rev-parse', `${toRef(tag)}^{commit}`]).trim();
}

function toRef(tag) {
  return `refs/spillway/${tag}`;
}

/** @returns who signed the tag, if your app trusts them */
function verify(git, tag, prefix) {
  try {
    return verifyTag(git, toRef(tag), tag, git(['show', `HEAD:${prefix}bin/upgrade/allowed-signers`]));
  } catch (error) {
    throw new CommandError(
      `${error.message}\nNothing was changed. If you trust where it comes from, add --allow-unsigned.`,
    );
  }
}

/** Returns the commit of the release that the app is based on. */
function findBase(git, { named, origin, upstream, next }) {
  const toCommit = (revision) => git(['rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`]).trim();
  const attempts = named
    ? [() => fetchTag(git, upstream, named), () => toCommit(named)]
    : [
        () => (origin.base ? toCommit(origin.base) : git(['merge-base', 'HEAD', next]).trim()),
        () => fetchTag(git, upstream, `v${origin.version}`),
      ];
  for (const attempt of attempts) {
    try {
      return attempt();
    } catch {
      // The next one can succeed.
    }
  }
  const name = named ?? `v${origin.version}`;
  throw new CommandError(`${upstream} has no ${name}, which your app is based on. Name its tag or commit with --base.`);
}

/** Returns undefined if there is no such file. */
function readJson(git, path) {
  try {
    return JSON.parse(git(['show', path]));
  } catch {
    return undefined;
  }
}

function describe({ versions: [from, to], tag, marked, kept, conflicts }) {
  const list = (title, lines) => (lines.length > 0 ? ['', title, ...lines.map((line) => `  ${line}`)] : []);
  return [
    `Staged what changed from Spillway ${from} to ${to}. CHANGELOG.md says what you have to do.`,
    ...list('Files with conflicts:', marked),
    ...list('package.json keeps your values:', conflicts),
    ...list(
      `The release removed or renamed these, and you have your own. See \`git show ${toRef(tag)}:<file>\`:`,
      kept,
    ),
  ].join('\n');
}

function execute(command, { folder, log, back }) {
  log(`\n$ ${command}`);
  const [name, ...args] = command.split(' ');
  const { status } = spawnSync(name, args, { cwd: folder, stdio: 'inherit', shell: process.platform === 'win32' });
  if (status !== 0) throw new CommandError(`\n\`${command}\` failed. Fix the reason and run it again.${back}`);
}
