import './required-node.mjs';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { faults, listMisplaced } from './seeded-faults/faults.mjs';

/**
 * Shows which faults the tests catch: puts one small fault after another into a copy of a commit, and runs the tests of
 * its area. Run it before and after a change to the tests:
 *
 *     node bench/seeded-faults.mjs --commit main --out before.json
 *     node bench/seeded-faults.mjs --commit HEAD --out after.json --against before.json
 *
 * It exits with 1 if it misses a fault that the other run caught, or if the source no longer contains a fault's line.
 * `--only store,api` limits it to these areas. Names of faults work too.
 */
const { values } = parseArgs({
  options: {
    commit: { type: 'string', default: 'HEAD' },
    out: { type: 'string' },
    against: { type: 'string' },
    only: { type: 'string' },
  },
});
const root = fileURLToPath(new URL('..', import.meta.url));
const copy = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-faults-')));
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
process.on('SIGINT', () => process.exit(130));

const archive = execFileSync('git', ['archive', values.commit], { cwd: root, maxBuffer: 1 << 28 });
execFileSync('tar', ['x'], { cwd: copy, input: archive });
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));

const only = values.only?.split(',');
const chosen = faults.filter(({ name, area }) => !only || only.includes(area) || only.includes(name));
const misplaced = listMisplaced(copy, chosen);
for (const { name, file } of misplaced) console.error(`${file} does not contain the line of "${name}" exactly once.`);
if (misplaced.length > 0) process.exit(1);

// A test that always fails would seem to catch everything.
const areas = [...new Set(chosen.flatMap(({ tests }) => tests))];
const unfaulted = runTests(areas, []);
if (!unfaulted.passed) {
  console.error(`The tests fail without a fault:\n${unfaulted.output.slice(-4000)}`);
  process.exit(1);
}

const results = {};
for (const { name, area, file, from, to, tests } of chosen) {
  const source = readFileSync(join(copy, file), 'utf8');
  writeFileSync(
    join(copy, file),
    source.replace(from, () => to),
  );
  const { passed, failed, seconds } = runTests(tests, ['--bail', '1']);
  writeFileSync(join(copy, file), source);
  results[name] = { area, caught: !passed, by: failed };
  console.log(
    `${passed ? 'MISSED' : 'caught'}  ${area.padEnd(11)} ${name} (${seconds} s${failed ? `, ${failed}` : ''})`,
  );
}

const caught = Object.values(results).filter((result) => result.caught).length;
console.log(`${caught} of ${chosen.length} faults caught.`);
if (values.out) writeFileSync(values.out, `${JSON.stringify(results, null, 2)}\n`);
if (values.against) {
  const before = JSON.parse(readFileSync(values.against, 'utf8'));
  const lost = Object.keys(results).filter((name) => before[name]?.caught && !results[name].caught);
  console.log(
    lost.length === 0 ? 'All faults that were caught before are still caught.' : `No longer caught: ${lost.join(', ')}`,
  );
  if (lost.length > 0) process.exitCode = 1;
}

function runTests(paths, options) {
  const started = performance.now();
  const vitest = join(copy, 'node_modules/vitest/vitest.mjs');
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [vitest, 'run', '--project=!soak', ...options, ...paths],
    {
      cwd: copy,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      env: { ...process.env, NO_COLOR: '1', CI: '1' },
    },
  );
  const output = stdout + stderr;
  // A fault that breaks the build, or stops the tests, counts as caught.
  const failed = /FAIL\s+(?:\S+\s+)?(tests\/\S+)/.exec(output)?.[1];
  return { passed: status === 0, output, failed, seconds: Math.round((performance.now() - started) / 1000) };
}
