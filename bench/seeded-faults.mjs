import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { faults, listMisplaced } from './seeded-faults/faults.mjs';
import { checkOut } from './servers.mjs';

/**
 * Shows which faults the tests catch: puts one small fault after another into a copy of a commit, and runs the tests of
 * its area. Run it before and after a change to the tests:
 *
 *     node bench/seeded-faults.mjs --commit main > before.txt
 *     node bench/seeded-faults.mjs --commit HEAD > after.txt
 *
 * It exits with 1 if the source no longer contains a fault's line. `--only store,api` limits it to these areas. Names of
 * faults work too.
 */
const text = { type: /** @type {const} */ ('string') };
const { commit = 'HEAD', only } = parseArgs({ options: { commit: text, only: text } }).values;
const copy = checkOut(commit);

const chosen = faults.filter(({ name, area }) => !only || only.split(',').some((one) => one === area || one === name));
for (const { name, file } of listMisplaced(copy, chosen)) {
  throw new Error(`${file} does not contain the line of "${name}" exactly once.`);
}
// A test that always fails would seem to catch everything.
const unfaulted = runTests([...new Set(chosen.flatMap(({ tests }) => tests))]);
if (unfaulted.status !== 0) throw new Error(`The tests fail without a fault:\n${unfaulted.stdout.slice(-4000)}`);

let caught = 0;
for (const { name, area, file, from, to, tests } of chosen) {
  const path = join(copy, file);
  const source = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    source.replace(from, () => to),
  );
  // A fault that breaks the build, or stops the tests, counts as caught.
  const { status, stdout, stderr } = runTests(tests, '--bail', '1');
  writeFileSync(path, source);
  const by = /FAIL\s+(?:\S+\s+)?(tests\/\S+)/.exec(stdout + stderr)?.[1]; // Vitest writes failures to stderr
  if (status !== 0) caught += 1;
  console.log(`${status === 0 ? 'MISSED' : 'caught'}  ${area.padEnd(11)} ${name} ${by ?? ''}`);
}
console.log(`${caught} of ${chosen.length} faults caught.`);

function runTests(paths, ...options) {
  const vitest = join(copy, 'node_modules/vitest/vitest.mjs');
  return spawnSync(process.execPath, [vitest, 'run', '--project=!soak', ...options, ...paths], {
    cwd: copy,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    env: { ...process.env, NO_COLOR: '1', CI: '1' },
  });
}
