import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError, createGit, verifyTag } from './git.mjs';

const unreleased = '## [Unreleased]';

/**
 * Releases a version of Spillway: checks it, sets the version, moves the heading of the changelog, and signs a tag.
 *
 * @param {string[]} args
 * @param {string} root
 * @returns {number} the exit code
 */
export function release(args, root, { log = console.log, today = new Date().toISOString().slice(0, 10) } = {}) {
  try {
    const [version = ''] = args;
    if (args.length !== 1 || !/^\d+\.\d+\.\d+$/.test(version)) {
      throw new CommandError('Usage: npm run release -- <version>');
    }
    const git = createGit(root);
    const files = prepare(git, root, version, today);
    for (const script of ['check', 'test:all']) {
      log(`$ npm run ${script}`);
      const { status } = spawnSync('npm', ['run', '--silent', script], { cwd: root, stdio: 'inherit' });
      if (status !== 0) throw new CommandError(`\`npm run ${script}\` failed. Nothing was released.`);
    }
    for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
    git(['commit', '--quiet', '--all', '-m', `Name this version ${version}`]);
    sign(git, root, `v${version}`);
    log(`v${version} is ready. Publish it:\n\n  git push --atomic origin HEAD v${version}`);
    return 0;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    console.error(error.message);
    return 1;
  }
}

/** Checks what can be checked without running anything, and returns the changed texts by path. */
function prepare(git, root, version, today) {
  const read = (path) => readFileSync(join(root, path), 'utf8');
  const { version: current } = JSON.parse(read('package.json'));
  if (git(['status', '--porcelain']) !== '')
    throw new CommandError('There are uncommitted changes. Commit them first.');
  if (version.localeCompare(current, 'en', { numeric: true }) <= 0) {
    throw new CommandError(`${version} is not newer than ${current}.`);
  }
  const changelog = read('CHANGELOG.md');
  const changes = /^## \[Unreleased\]\n([\s\S]*?)(?=^## \[|(?![\s\S]))/m.exec(changelog)?.[1] ?? '';
  if (changes.trim() === '') throw new CommandError(`CHANGELOG.md has nothing under "${unreleased}".`);
  if (changes.includes('**Breaking:**') && !changes.includes(`### Upgrade from ${current}`)) {
    throw new CommandError(
      `CHANGELOG.md has a breaking change. Add a section "### Upgrade from ${current}" that shows what to change, before and after.`,
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

/** Undoes the commit if owners could not verify the tag. */
function sign(git, root, tag) {
  const signers = join(root, 'bin/upgrade/allowed-signers');
  try {
    git(['-c', 'gpg.format=ssh', 'tag', '--sign', tag, '-m', `Spillway ${tag.slice(1)}`]);
    verifyTag(git, `refs/tags/${tag}`, tag, readFileSync(signers, 'utf8'));
  } catch (error) {
    git(['reset', '--quiet', '--hard', 'HEAD^']);
    throw new CommandError(
      `${error.message}\nDelete the tag ${tag} if there is one. Set user.signingKey to your SSH key, and add its public half to bin/upgrade/allowed-signers in an earlier commit.`,
    );
  }
}
