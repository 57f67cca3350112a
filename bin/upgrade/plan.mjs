import {
  listSettings,
  settingsFile,
  tourSetting,
  withOwnersTests,
  withoutSettings,
  withoutTour,
} from '../own/tour.mjs';
import { planWithout } from '../own/without.mjs';
import { mergeLock, mergeManifest } from './merge-json.mjs';
import { mergeSettings } from './merge-settings.mjs';
import { spillwayFile, toHash, toSpillwayText } from './spillway-file.mjs';
import { toOwner } from './whose.mjs';

/**
 * @typedef {Map<string, { mode: string, id: string }>} Files
 *
 * @typedef {object} Plan
 * @property {string} pick a commit whose difference to its parent is the upgrade
 * @property {string} changelog of the new release
 * @property {{ added: string[], removed: string[], changed: string[] }} files that the release changes
 * @property {string[]} edited Spillway's files that you changed
 * @property {string[]} deleted Spillway's files that you deleted, or would never have had
 * @property {string[]} kept files that are yours now, and that the release changes
 * @property {string[]} dependencies changes of package.json, as lines
 * @property {string[]} conflicts files that git cannot merge
 * @property {string[]} codemods versions whose codemod is to run
 */

/**
 * Writes two commits: your release with what `npm run own` did to it, and the new release with the same. A cherry-pick
 * of the second is then the upgrade. Both leave out your files, so git does not touch them.
 *
 * @param {import('./git.mjs').Git} git
 * @param {import('./release-source.mjs').Release} base
 * @param {import('./release-source.mjs').Release} target
 * @param {{ upstream: string | undefined, without: readonly string[] }} origin
 * @returns {Plan}
 */
export function createPlan(git, base, target, { upstream, without }) {
  const head = git.list('HEAD');
  const isOwned = !readText(git, head, settingsFile)?.includes(tourSetting);
  const [before, after] = [base, target].map(({ tree }) => toOwned(git, git.list(tree), { isOwned, without }));
  const targetChanges = listChanges(before, after);

  const kept = [...before.keys(), ...after.keys()].filter(
    (path) => toOwner(path) === 'yours' && !isSame(head, before, path),
  );
  for (const path of kept) drop(path, before, after);
  const deleted = listDeleted(head, before, after);
  for (const path of deleted) drop(path, before, after);

  const files = listChanges(before, after);
  const edited = [...before.keys()].filter((path) => toOwner(path) === 'spillway' && !isSame(head, before, path));
  const { manifest, hasConflicts } = mergePackages(git, head, before, after, isOwned);
  const ours = [...after].filter(([path]) => toOwner(path) === 'spillway').map(([path, { id }]) => [path, toHash(id)]);
  const settings = [before, head, after].map((all) => readText(git, all, '.env.example'));
  const mergedSettings = settings.includes(undefined) ? undefined : mergeSettings(...settings);
  if (mergedSettings !== undefined) replace(head, before, after, '.env.example', git.write(mergedSettings));
  const { version, commit } = target;
  const origin = toSpillwayText({ version, upstream, commit, without, files: Object.fromEntries(ours) });
  replace(head, before, after, spillwayFile, git.write(origin));

  const parent = git.run(['commit-tree', git.writeTree(before), '-m', `Spillway ${base.version}`]);
  const message = `Upgrade Spillway from ${base.version} to ${version}`;
  const pick = git.run(['commit-tree', git.writeTree(after), '-p', parent, '-m', message]);
  return {
    pick,
    changelog: git.read(git.list(target.tree).get('CHANGELOG.md')?.id ?? ''),
    files,
    edited,
    deleted: deleted.filter((path) => isChanged(targetChanges, path)),
    kept: [...new Set(kept)].filter((path) => isChanged(targetChanges, path)),
    dependencies: hasConflicts ? [] : listDependencies(readText(git, head, 'package.json'), manifest),
    conflicts: predictConflicts(git, parent, pick),
    codemods: [...after.keys()]
      .map((path) => /^bin\/codemods\/(.+)\.mjs$/.exec(path)?.[1])
      .filter((name) => name !== undefined),
  };
}

/** Removes the product from the files of a release, and does to the rest what `npm run own` did to yours. */
function toOwned(git, files, { isOwned, without }) {
  const settings = listSettings(readText(git, files, settingsFile) ?? '');
  const owned = new Map([...files].filter(([path]) => toOwner(path) !== 'product' && path !== spillwayFile));
  if (!isOwned) return owned;
  for (const part of without) removePart(git, owned, part);
  for (const [path, { mode, id }] of owned) {
    if (path !== '.env.example' && !/^(?:docs\/.*|[^/]*)\.md$/.test(path)) continue;
    const text = git.read(id);
    const changed = path.endsWith('.md') ? withoutTour(text) : withoutSettings(text, settings);
    if (changed !== text) owned.set(path, { mode, id: git.write(changed) });
  }
  return owned;
}

/** Does to the files of a release what `npm run own -- --without <part>` did to yours. */
function removePart(git, files, part) {
  const read = readAll(git, files);
  const plan = planWithout(part, { paths: [...files.keys()], read });
  if (!plan) return;
  const settings = listSettings(read(plan.removal.settings));
  const env = withoutSettings(read('.env.example'), settings) + read(`bin/own/without-${part}/.env.part`);
  for (const path of plan.removed) files.delete(path);
  for (const [path, text] of [...plan.written, ['.env.example', env]]) {
    files.set(path, { mode: files.get(path)?.mode ?? '100644', id: git.write(text) });
  }
}

/** Reads each file at most once, because each takes a process. */
function readAll(git, files) {
  const texts = new Map();
  return (path) => {
    if (!texts.has(path)) texts.set(path, git.read(files.get(path).id));
    return texts.get(path);
  };
}

/**
 * Lists files that you deleted. New files in a folder that you deleted are among them.
 *
 * @param {Files} head
 * @param {Files} before
 * @param {Files} after
 */
function listDeleted(head, before, after) {
  const [known, present] = [before, head].map(listFolders);
  return [...new Set([...before.keys(), ...after.keys()])].filter((path) => {
    if (head.has(path)) return false;
    if (before.has(path)) return true;
    const folder = listParents(path).find((parent) => known.has(parent));
    return folder !== undefined && !present.has(folder);
  });
}

function listFolders(files) {
  return new Set([...files.keys()].flatMap(listParents));
}

/** Returns the folders of a path, innermost first. */
function listParents(path) {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('/'));
}

/** Merges package.json and the lockfile, so that git finds nothing to merge, or marks only what is in conflict. */
function mergePackages(git, head, before, after, isOwned) {
  const texts = [before, head, after].map((files) => readText(git, files, 'package.json'));
  if (texts.includes(undefined)) return { manifest: undefined, hasConflicts: false };
  const [base, ours, theirs] = texts;
  const { test } = JSON.parse(ours).scripts ?? {};
  // An early `npm run own` did not change the scripts.
  const ownedBase = isOwned && test !== JSON.parse(base).scripts.test ? withOwnersTests(base) : base;
  const merged = mergeManifest(ownedBase, ours, isOwned ? withOwnersTests(theirs) : theirs);
  before.set('package.json', { ...before.get('package.json'), id: git.write(merged.base) });
  after.set('package.json', { ...after.get('package.json'), id: git.write(merged.theirs) });
  const manifest = JSON.parse(merged.theirs);
  const locks = [before, head, after].map((files) => readText(git, files, 'package-lock.json'));
  if (!locks.includes(undefined)) {
    replace(head, before, after, 'package-lock.json', git.write(mergeLock(...locks, manifest)));
  }
  return { manifest, hasConflicts: merged.conflicts.length > 0 };
}

/** Replaces your version of a file by this text, without a merge by git. */
function replace(head, before, after, path, id) {
  const present = head.get(path);
  if (present) before.set(path, present);
  else before.delete(path);
  after.set(path, { mode: '100644', id });
}

function listChanges(before, after) {
  const paths = (files, other) => [...files.keys()].filter((path) => !other.has(path));
  return {
    added: paths(after, before),
    removed: paths(before, after),
    changed: [...after.keys()].filter((path) => before.has(path) && !isSame(before, after, path)),
  };
}

function isChanged({ added, removed, changed }, path) {
  return [added, removed, changed].some((paths) => paths.includes(path));
}

function listDependencies(before, manifest) {
  const old = JSON.parse(before);
  return ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((map) => {
    const [from, to] = [old[map] ?? {}, manifest[map] ?? {}];
    return [...new Set([...Object.keys(from), ...Object.keys(to)])]
      .filter((name) => from[name] !== to[name])
      .map((name) => `${name} ${from[name] ?? '(new)'} -> ${to[name] ?? '(removed)'}`);
  });
}

/** Merges in memory: writes neither files nor refs. */
function predictConflicts(git, parent, pick) {
  const tree = git.run(['rev-parse', 'HEAD^{tree}']);
  const ours = git.run(['commit-tree', tree, '-p', parent, '-m', 'Your app']);
  const merge = [
    '-c',
    'merge.directoryRenames=false',
    'merge-tree',
    '--write-tree',
    '--name-only',
    '--no-messages',
    '-z',
  ];
  const { out } = git.attempt([...merge, ours, pick]);
  return [...new Set(out.split('\0').slice(1).filter(Boolean))];
}

function drop(path, ...trees) {
  for (const files of trees) files.delete(path);
}

function isSame(a, b, path) {
  return a.get(path)?.id === b.get(path)?.id;
}

function readText(git, files, path) {
  const file = files.get(path);
  return file && git.read(file.id);
}
