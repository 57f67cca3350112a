import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createGit, UpgradeError } from './git.mjs';
import { createPlan } from './plan.mjs';
import { openProgress, readState } from './progress.mjs';
import { fetchBase, fetchRelease } from './release-source.mjs';
import { readSpillwayFile, withoutCredentials } from './spillway-file.mjs';
import { abort, begin, resume, toCommand } from './steps.mjs';
import { compareVersions, readChanges } from './versions.mjs';

const usage = `Usage: npm run upgrade -- <version> [--check] [--from <git URL, folder or archive>] [--base <version or commit>] [--allow-unsigned]
       npm run upgrade -- --continue
       npm run upgrade -- --abort`;

/**
 * Upgrades an app to a release of Spillway, as a git merge between two releases on a branch.
 *
 * @param {string[]} args
 * @param {string} root of the app
 * @returns {number} the exit code
 */
export function upgrade(args, root, log = console.log) {
  try {
    return run(args, root, log);
  } catch (error) {
    if (!(error instanceof UpgradeError)) throw error;
    console.error(error.message);
    return 1;
  }
}

function run(args, root, log) {
  const { values: options, positionals } = readOptions(args);
  const git = createGit(root);
  requireApp(git);
  if (options.continue) return resume(git, log);
  if (options.abort) return abort(git, log);

  const state = readState(git);
  const inProgress = openProgress(git).read();
  if (inProgress && !options.check) {
    throw new UpgradeError(
      `An upgrade to ${inProgress.version} is in progress. Run \`${toCommand(git)} --continue\` or \`${toCommand(git)} --abort\`.`,
    );
  }
  if (state.isLocked)
    throw new UpgradeError('Another git process is running here, or was killed: .git/index.lock exists.');
  if (state.isChanged && !options.check) {
    throw new UpgradeError('There are uncommitted changes. Commit or stash them first, so that you lose nothing.');
  }

  const origin = readSpillwayFile(root);
  const upstreamUrl = origin?.upstream ?? findRemote(git);
  const from = options.from ?? upstreamUrl;
  if (!from)
    throw new UpgradeError('Say where Spillway comes from: add --from with its git URL, a folder or an archive.');
  const wanted = positionals[0]?.replace(/^v(?=\d)/, '');
  const target = fetchRelease(git, { wanted, from, allowUnsigned: options['allow-unsigned'] === true });
  // Folders and archives have only one release.
  const base = fetchBase(git, options.base ?? findBase(git, origin, target), target.commit ? from : upstreamUrl);
  const direction = compareVersions(target.version, base.version);
  if (direction < 0 || (direction === 0 && target.tree === base.tree)) {
    throw new UpgradeError(`Your app already has Spillway ${base.version}.`);
  }
  const upstream = origin?.upstream ?? (target.commit ? from : upstreamUrl);
  const plan = createPlan(git, base, target, {
    upstream: upstream && withoutCredentials(upstream),
    without: Object.keys(origin?.without ?? {}),
  });
  const codemods = plan.codemods
    .filter((version) => compareVersions(version, base.version) > 0 && compareVersions(version, target.version) <= 0)
    .sort(compareVersions);
  log(describe(plan, base, target, codemods));
  if (options.check) return 0;

  const branch = `upgrade-${target.version}`;
  if (git.resolve(`refs/heads/${branch}`)) {
    throw new UpgradeError(
      `There is already a branch ${branch}. Merge it, or delete it with \`git branch -D ${branch}\`.`,
    );
  }
  return begin(git, { branch, pick: plan.pick, base: base.version, version: target.version, codemods }, log);
}

function readOptions(args) {
  try {
    const parsed = parseArgs({
      args,
      allowPositionals: true,
      options: {
        check: { type: 'boolean' },
        continue: { type: 'boolean' },
        abort: { type: 'boolean' },
        from: { type: 'string' },
        base: { type: 'string' },
        'allow-unsigned': { type: 'boolean' },
      },
    });
    if (parsed.positionals.length > 1) throw new Error('There is more than one version.');
    return parsed;
  } catch (error) {
    throw new UpgradeError(`${error.message}\n${usage}`);
  }
}

function requireApp(git) {
  const isTop = git.attempt(['rev-parse', '--show-prefix']);
  if (!isTop.ok || isTop.out.trim() !== '' || !existsSync(join(git.root, 'package.json')) || !git.resolve('HEAD')) {
    throw new UpgradeError(
      'Run this in the top folder of your app, which must be a git repository with at least one commit.',
    );
  }
}

/** Returns the URL of the remote that a clone usually has Spillway as. */
function findRemote(git) {
  const urls = ['upstream', 'origin'].map((name) => git.attempt(['remote', 'get-url', name]));
  return urls.find(({ ok }) => ok)?.out.trim();
}

/** Returns the release that the app is based on: as the last upgrade wrote it, by the history, or by the version. */
function findBase(git, origin, target) {
  if (origin?.commit) return origin.commit;
  const shared = target.commit && git.attempt(['merge-base', 'HEAD', target.commit]);
  if (shared?.ok) return shared.out.trim();
  return origin?.version ?? JSON.parse(readFileSync(join(git.root, 'package.json'), 'utf8')).version;
}

/** Says what an upgrade changes. */
function describe(plan, base, target, codemods) {
  const { files, edited, deleted, kept, dependencies, conflicts } = plan;
  const name = ({ version, commit }) => `${version}${commit ? ` (${commit.slice(0, 7)})` : ''}`;
  const section = (title, lines) => (lines.length > 0 ? ['', title, ...lines.map((line) => `  ${line}`)] : []);
  return [
    `From Spillway ${name(base)} to ${name(target)}, ${target.signer ? `signed by ${target.signer}` : 'without a verified signature'}.`,
    `${files.changed.length} files change, ${files.added.length} are new, ${files.removed.length} are removed. The product folders stay as they are.`,
    ...section(
      'You changed these files of Spillway. Your changes are merged:',
      edited.map((path) => (conflicts.includes(path) ? `${path} (conflict)` : path)),
    ),
    ...section(
      'Other conflicts that you will have to resolve:',
      conflicts.filter((path) => !edited.includes(path)),
    ),
    ...section('You deleted these files, so they stay deleted:', deleted),
    ...section('These are yours, so they stay as they are:', kept),
    ...section('Dependencies:', dependencies),
    ...section(
      'Codemods that run:',
      codemods.map((version) => `bin/codemods/${version}.mjs`),
    ),
    '',
    readChanges(plan.changelog, base.version, target.version, { unreleased: target.signer === undefined }) ||
      `The changelog has no entry for ${target.version}.`,
  ].join('\n');
}
