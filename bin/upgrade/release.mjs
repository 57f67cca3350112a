import { spawnSync } from 'node:child_process';
import { createGit, UpgradeError } from './git.mjs';
import { readState } from './progress.mjs';
import { signersPath, verifyTag } from './release-source.mjs';
import { compareVersions, isVersion } from './versions.mjs';

const unreleased = '## [Unreleased]';

/**
 * Releases a version of Spillway: checks it, sets the version, moves the heading of the changelog, and signs a tag. The
 * branch moves last, so an interrupted release leaves at most a tag that is not pushed.
 *
 * @param {string[]} args
 * @param {string} root
 * @returns {number} the exit code
 */
export function release(args, root, { log = console.log, today = new Date().toISOString().slice(0, 10) } = {}) {
  try {
    const [version] = args;
    if (args.length !== 1 || !isVersion(version)) throw new UpgradeError('Usage: npm run release -- <version>');
    const git = createGit(root);
    const files = prepare(git, version, today);
    for (const script of ['check', 'test:all']) {
      log(`$ npm run ${script}`);
      const { status } = spawnSync('npm', ['run', '--silent', script], { cwd: root, stdio: 'inherit' });
      if (status !== 0) throw new UpgradeError(`\`npm run ${script}\` failed. Nothing was released.`);
    }
    const commit = tagRelease(git, version, files);
    git.run(['merge', '--quiet', '--ff-only', commit]);
    const { branch } = readState(git);
    log(`v${version} is ready. Publish it:\n\n  git push --atomic origin ${branch} v${version}`);
    return 0;
  } catch (error) {
    if (!(error instanceof UpgradeError)) throw error;
    console.error(error.message);
    return 1;
  }
}

/** Checks what can be checked without running anything, and returns the changed texts by path. */
function prepare(git, version, today) {
  const read = (path) => git.run(['cat-file', 'blob', `HEAD:${path}`]);
  const { version: current } = JSON.parse(read('package.json'));
  if (readState(git).isChanged) throw new UpgradeError('There are uncommitted changes. Commit them first.');
  if (compareVersions(version, current) <= 0) throw new UpgradeError(`${version} is not newer than ${current}.`);
  if (git.resolve(`refs/tags/v${version}`))
    throw new UpgradeError(`There is already a tag v${version}. Delete it if it is not pushed.`);

  const changelog = read('CHANGELOG.md');
  const changes = /^## \[Unreleased\]\n([\s\S]*?)(?=^## \[|(?![\s\S]))/m.exec(changelog)?.[1] ?? '';
  if (changes.trim() === '') throw new UpgradeError(`CHANGELOG.md has nothing under "${unreleased}".`);
  if (changes.includes('**Breaking:**') && !changes.includes(`### Upgrade from ${current}`)) {
    throw new UpgradeError(
      `CHANGELOG.md has a breaking change. Add a section "### Upgrade from ${current}" that shows what to change, before and after, and write bin/codemods/${version}.mjs if a program can do it.`,
    );
  }
  const setVersion = (text) => text.replace(`"version": "${current}"`, `"version": "${version}"`);
  return {
    'package.json': setVersion(read('package.json')),
    // At the top, and in the entry of the project itself.
    'package-lock.json': setVersion(setVersion(read('package-lock.json'))),
    'CHANGELOG.md': changelog.replace(unreleased, `${unreleased}\n\n## [${version}] - ${today}`),
  };
}

/** Writes the commit and its tag, and returns the commit. The branch does not have it yet. */
function tagRelease(git, version, texts) {
  const files = git.list('HEAD');
  for (const [path, text] of Object.entries(texts)) {
    files.set(path, { ...files.get(path), id: git.write(`${text}\n`) });
  }
  const commit = git.run(['commit-tree', git.writeTree(files), '-p', 'HEAD', '-m', `Name this version ${version}`]);
  const tag = `v${version}`;
  git.run(['-c', 'gpg.format=ssh', 'tag', '--sign', tag, commit, '-m', `Spillway ${version}`]);
  try {
    verifyTag(git, git.run(['rev-parse', `refs/tags/${tag}`]), version);
  } catch (error) {
    git.run(['tag', '--delete', tag]);
    throw new UpgradeError(
      `${error.message}\nSet user.signingKey to your SSH key, and add its public half to ${signersPath} in an earlier commit.`,
    );
  }
  return commit;
}
