import { execFileSync } from 'node:child_process';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { buildPlainSides, makeApp } from './app.mjs';
import { LOADS, measureCold, measureLoad, measureStart } from './measure.mjs';
import { isPinned, leaveServerCore } from './servers.mjs';

// Compares Spillway with bare `node:http`, plain Express and Express with the usual middleware, which serve the same pages and answers. docs/performance.md
// explains the table.

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '1' },
    json: { type: 'boolean' },
  },
});
const [rounds, seconds] = [values.rounds, values.seconds].map(Number);
const folder = makeApp();
const plain = await buildPlainSides(folder);
execFileSync(process.execPath, ['build.mjs'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
leaveServerCore();
const sides = {
  bare: { args: [plain.bare], cwd: folder, core: 0 },
  express: { args: [plain.express], cwd: folder, core: 0 },
  middleware: { args: [plain.middleware], cwd: folder, core: 0 },
  spillway: { args: ['bin/start.mjs'], cwd: folder, core: 0, env: { COMPRESSION: 'on' } },
};
const TITLES = { bare: 'bare Node', express: 'Express', middleware: 'Express, middleware', spillway: 'Spillway' };
const options = { sides, rounds, seconds };
const works = {
  ...Object.fromEntries(Object.keys(LOADS).map((name) => [name, () => measureLoad(name, options)])),
  cold: () => measureCold(options),
  start: () => measureStart(options),
};
const names = values.only?.split(',') ?? Object.keys(works);
const rows = [];
for (const name of names) {
  console.error(`Measuring ${name}…`);
  try {
    rows.push(...(await works[name]()).map((row) => ({ work: name, ...row })));
  } catch (error) {
    console.error(`${name} was not measured: ${error.message}`);
    process.exitCode = 1;
  }
}
if (values.json) console.log(JSON.stringify({ rows }, null, 2));
else {
  console.table(rows.map(toCells));
  console.log(`Rounds: ${rounds}, of ${seconds} s, with 32 connections. CPU: the server's time for each request.
Ranges: the middle half of the rounds.
Node ${process.version}. Load average: ${loadavg()[0].toFixed(1)}.`);
  if (!isPinned) console.log('Server and load shared all cores, so requests a second depend on both.');
  if (rows.some(({ isIdle }) => isIdle)) console.log('* Something else was the limit. Trust the CPU time.');
}
process.exit();

function toCells({ title, unit, values, shares, isIdle }) {
  return {
    '': title,
    ...Object.fromEntries(Object.entries(TITLES).map(([side, name]) => [name, toFigure(values[side])])),
    unit: isIdle ? `${unit} *` : unit,
    ...Object.fromEntries(
      Object.entries(TITLES)
        .slice(1)
        .map(([side, name]) => [`${name} / bare`, toRange(shares?.[side])]),
    ),
  };
}

function toFigure(value) {
  return value?.toPrecision(value >= 100 ? Math.trunc(value).toString().length : 3) ?? '';
}

function toRange(share) {
  return share ? `${share.median.toFixed(2)} (${share.low.toFixed(2)} to ${share.high.toFixed(2)})` : '';
}
