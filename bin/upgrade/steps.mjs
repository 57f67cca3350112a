import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UpgradeError } from './git.mjs';
import { openProgress, readState, toGitFile } from './progress.mjs';

/**
 * Starts an upgrade on a new branch.
 *
 * @param {import('./git.mjs').Git} git
 * @param {Omit<import('./progress.mjs').Progress, 'phase' | 'from' | 'start'>} upgrade
 * @param {(line: string) => void} log
 * @returns {number} the exit code
 */
export function begin(git, upgrade, log) {
  const { head, branch } = readState(git);
  const progress = { phase: 'merge', from: branch || head, start: head, ...upgrade };
  // First, because it is what --continue and --abort read. Without the branch it counts as absent.
  openProgress(git).write(progress);
  git.run(['switch', '--quiet', '--create', upgrade.branch]);
  return merge(git, progress, log);
}

/**
 * Continues after conflicts, a failed step or an interruption.
 *
 * @param {import('./git.mjs').Git} git
 * @param {(line: string) => void} log
 */
export function resume(git, log) {
  const progress = requireProgress(git);
  const { head, branch, isPicking, isLocked, isChanged, unmerged } = readState(git);
  if (branch !== progress.branch) {
    // Killed before the switch, or you switched back.
    if (isChanged) throw new UpgradeError('There are uncommitted changes. Commit or stash them first.');
    git.run(['switch', '--quiet', progress.branch]);
    return resume(git, log);
  }
  if (isLocked) {
    throw new UpgradeError(
      `git was interrupted while it changed files. Run \`${toCommand(git)} --abort\`, which restores them, and start again.`,
    );
  }
  if (progress.phase !== 'merge') return finish(git, progress, log);
  if (unmerged.length > 0) return explainConflicts(git, unmerged, log);
  if (isPicking) {
    git.run(['-c', 'core.editor=true', 'cherry-pick', '--continue']);
    return finish(git, next(git, progress, 'install'), log);
  }
  if (head !== progress.start) return finish(git, next(git, progress, 'install'), log);
  if (isChanged) {
    throw new UpgradeError(
      `The merge was interrupted. Run \`${toCommand(git)} --abort\`, which restores your files, and start again.`,
    );
  }
  return merge(git, progress, log);
}

/**
 * Restores the branch and the files from before.
 *
 * @param {import('./git.mjs').Git} git
 * @param {(line: string) => void} log
 */
export function abort(git, log) {
  const progress = requireProgress(git);
  const { branch, head, start, from, pick } = { ...progress, head: git.run(['rev-parse', progress.branch]) };
  if (readState(git).branch === branch) {
    rmSync(toGitFile(git, 'index.lock'), { force: true });
    git.run(['reset', '--quiet', '--hard', start]);
    // An interrupted merge can have written files that git does not know yet.
    const untracked = git.run(['ls-files', '--others', '--exclude-standard', '-z']).split('\0');
    const written = git.list(pick);
    for (const path of untracked) if (written.has(path)) rmSync(join(git.root, path));
    git.run(['switch', '--quiet', ...(git.resolve(`refs/heads/${from}`) ? [from] : ['--detach', from])]);
  }
  git.run(['branch', '--quiet', '-D', branch]);
  openProgress(git).remove();
  log(
    `The upgrade was stopped, and you are on ${from} as before.${head === start ? '' : ` ${branch} was at ${head}.`}`,
  );
  if (progress.phase !== 'merge') log('Run `npm ci`, because node_modules can be that of the new version.');
  return 0;
}

function requireProgress(git) {
  const progress = openProgress(git).read();
  if (!progress) throw new UpgradeError('No upgrade is in progress.');
  return progress;
}

function next(git, progress, phase) {
  const changed = { ...progress, phase };
  openProgress(git).write(changed);
  return changed;
}

function merge(git, progress, log) {
  const { ok, err } = git.attempt(['-c', 'merge.directoryRenames=false', 'cherry-pick', progress.pick]);
  if (ok) return finish(git, next(git, progress, 'install'), log);
  const { unmerged } = readState(git);
  if (unmerged.length === 0) throw new UpgradeError(`\`git cherry-pick\` failed: ${err.trim()}`);
  return explainConflicts(git, unmerged, log);
}

function explainConflicts(git, unmerged, log) {
  const command = toCommand(git);
  log(`
git cannot merge ${unmerged.length === 1 ? 'this file' : `these ${unmerged.length} files`}, and has marked the conflicts as in any merge:

${unmerged.map((path) => `  ${path}`).join('\n')}

Resolve them and \`git add\` the files. Then run \`${command} --continue\`, which also runs \`git cherry-pick --continue\`.
\`${command} --abort\` restores everything.`);
  return 1;
}

/** Runs the steps after the merge. Each can be repeated. */
function finish(git, progress, log) {
  let current = progress;
  if (current.phase === 'install') {
    // Completes the merged lockfile: `dev` depends on all packages, and a merge can miss what npm has to look up.
    log('\n$ npm install --package-lock-only');
    if (!npm(git, ['install', '--package-lock-only'])) return failStep(git, 'npm install --package-lock-only', log);
    commitAll(git, 'Complete package-lock.json');
    log('\n$ npm ci');
    if (!npm(git, ['ci'])) return failStep(git, 'npm ci', log);
    current = next(git, current, 'codemods');
  }
  if (current.phase === 'codemods') {
    for (const version of current.codemods) {
      log(`\n$ node bin/codemods/${version}.mjs`);
      if (!start(git, process.execPath, [`bin/codemods/${version}.mjs`])) {
        return failStep(git, `node bin/codemods/${version}.mjs`, log);
      }
    }
    // It also reports what the manual steps are for, so its exit code does not count.
    if (readState(git).isChanged) npm(git, ['run', '--silent', 'format']);
    commitAll(git, `Run the codemods from ${current.base} to ${current.version}`);
    current = next(git, current, 'check');
  }
  log('\n$ npm run check');
  if (!npm(git, ['run', '--silent', 'check'])) {
    log(`
\`npm run check\` failed. Do the manual steps of the changelog above, if there are any, and fix what is left. Commit, and
run \`${toCommand(git)} --continue\`. \`${toCommand(git)} --abort\` restores everything.`);
    return 1;
  }
  openProgress(git).remove();
  if (readState(git).isChanged) log('\nCommit your changes.');
  log(`
${current.branch} has Spillway ${current.version}, and passes \`npm run check\`. Run \`npm test\`, and then:

  git switch ${current.from} && git merge ${current.branch} && git branch -d ${current.branch}`);
  return 0;
}

function commitAll(git, message) {
  if (!readState(git).isChanged) return;
  git.run(['add', '--all']);
  git.run(['commit', '--quiet', '-m', message]);
}

function failStep(git, step, log) {
  log(`\n\`${step}\` failed. Fix the reason, and run \`${toCommand(git)} --continue\`.`);
  return 1;
}

/** Returns how to run this command: it can be that of another clone, and npm cannot read a package.json with conflicts. */
export function toCommand(git) {
  const path = relative(git.root, fileURLToPath(new URL('../upgrade.mjs', import.meta.url)));
  if (path.startsWith('..')) return `node ${path}`;
  try {
    const { scripts } = JSON.parse(readFileSync(join(git.root, 'package.json'), 'utf8'));
    if (scripts.upgrade) return 'npm run upgrade --';
  } catch {
    // A conflict in package.json: npm does not start.
  }
  return `node ${path}`;
}

function npm(git, args) {
  return start(git, 'npm', args);
}

function start(git, command, args) {
  const shell = process.platform === 'win32' && command === 'npm';
  return spawnSync(command, args, { cwd: git.root, stdio: 'inherit', shell }).status === 0;
}
