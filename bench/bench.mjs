import './required-node.mjs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPlainSides, bundlePlainScript, makeApp } from './comparison/app.mjs';
import { measureDevelop } from './comparison/develop.mjs';
import { measureBuild, measureCold, measureLoad, measureStart } from './comparison/measure.mjs';
import { measurePage } from './comparison/page.mjs';
import { isIdle, isMet, toPageTable, toShare, toTable } from './comparison/report.mjs';
import { measureShell } from './comparison/shell.mjs';
import { canReadCpu, isPinned, makeFolder } from './comparison/sides.mjs';
import { measureSizes } from './comparison/sizes.mjs';
import { LOADS } from './comparison/works.mjs';

// Compares Spillway with bare `node:http` and plain Express, which serve the same pages and answers. docs/performance.md
// explains the table.

const NAMES = [...LOADS.map(({ name }) => name), 'shell', 'cold', 'start', 'build', 'sizes', 'develop'];
const USAGE = `Usage: npm run bench -- [options]

  --only api,static  measures only these of: ${NAMES.join(', ')}
  --rounds 9         rounds of each work, in alternating order
  --seconds 1        seconds of load in each round
  --connections 32   connections of the load
  --json             prints one JSON object

To measure a page of your app:

  --path /orders     prints its requests a second, CPU time and latency. {n} is another number in each request
  --against ../old   compares it with the same page of another checkout
  --header 'Cookie: session=…'`;

const options = readOptions();
const machine = {
  node: process.version,
  cpu: cpus()[0]?.model,
  cores: availableParallelism(),
  isPinned,
  loadAverage: loadavg()[0],
};
await (options.path === undefined ? compare(options) : measureOwnPage(options).catch(refuse));
process.exit();

async function compare({ only, rounds, seconds, connections, json }) {
  const app = join(makeFolder(), 'app');
  say('Building…');
  makeApp(app);
  const plain = await buildPlainSides(app);
  const build = measureBuild({ folder: app, rounds: only.includes('build') ? Math.min(rounds, 5) : 0 });
  const sides = {
    bare: { args: [plain.bare], cwd: app },
    express: { args: [plain.express], cwd: app },
    spillway: { args: ['bin/start.mjs'], cwd: app, env: { OPERATOR_TOKEN: 'a-token-of-the-benchmark' } },
  };
  const load = { sides, rounds, seconds, connections };
  const works = {
    ...Object.fromEntries(LOADS.map((work) => [work.name, () => measureLoad(work, load)])),
    shell: () => measureShell(load),
    cold: () => measureCold({ ...load, rounds: Math.ceil(rounds / 3) }),
    start: () => measureStart({ sides, rounds: Math.min(rounds, 5) }),
    build: async () => build,
    sizes: async () => measureSizes({ sides, plainScript: await bundlePlainScript(app) }),
    develop: measureDevelop,
  };
  const rows = [];
  const failed = [];
  for (const name of only) {
    say(`Measuring ${name}…`);
    const measured = await works[name]().catch((error) => ({ rows: [], error }));
    if (measured.error) {
      console.error(`${name} was not measured: ${measured.error.message}`);
      process.exitCode = 1;
    }
    rows.push(...measured.rows.map((row) => ({ work: name, ...row })));
    for (const [side, count] of Object.entries(measured.failed ?? {})) {
      if (count > 0) failed.push({ work: name, side, count });
    }
  }
  if (json) {
    const judged = rows.map((row) => ({ ...row, isMet: isMet(row) }));
    console.log(JSON.stringify({ machine, rounds, seconds, connections, rows: judged, failed }, null, 2));
    return;
  }
  console.log(`${toTable(rows)}\n`);
  for (const { work, side, count } of failed) console.log(`${work}: ${side} refused or broke off ${count} answers.`);
  console.log(
    `Rounds: ${rounds}, of ${seconds} s, with ${connections} connections. CPU: the server's time for each request.`,
  );
  console.log('Ranges: 95 % intervals of the median, or the lowest and highest of fewer than six rounds.');
  if (rows.some(({ busy }) => isIdle(busy))) {
    console.log(
      '* A server did not use its whole core: other processes or the load were the limit. Trust the CPU time.',
    );
  }
  describeMachine();
}

async function measureOwnPage({ path, against, header, rounds, seconds, connections, json }) {
  const headers = header.map((line) => `${line}\r\n`).join('');
  const measured = await measurePage({ path, against, headers, rounds, seconds, connections });
  if (json) {
    console.log(JSON.stringify({ machine, path, rounds, seconds, connections, ...measured }, null, 2));
    return;
  }
  console.log(`${toPageTable(measured.sides)}\n`);
  if (measured.shares) {
    console.log(`This checkout has ${toShare(measured.shares.requests)} times the requests a second of the other.`);
    if (measured.shares.cpu) console.log(`It needs ${toShare(measured.shares.cpu)} times the CPU time.`);
  }
  describeMachine();
}

function describeMachine() {
  const { node, cores, loadAverage } = machine;
  console.log(`Node ${node}, ${cores} cores. Load average at the start: ${loadAverage.toFixed(1)}.`);
  if (!isPinned) console.log('Server and load shared all cores, so requests a second depend on both.');
  if (!canReadCpu) console.log('This system does not report the CPU time of other processes.');
}

function refuse(error) {
  console.error(error.message);
  process.exitCode = 1;
}

/** Progress, apart from the result. */
function say(text) {
  console.error(text);
}

function readOptions() {
  const text = { type: /** @type {const} */ ('string') };
  try {
    const { values } = parseArgs({
      options: {
        ...{ only: text, rounds: text, seconds: text, connections: text, path: text, against: text },
        header: { ...text, multiple: true },
        json: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    });
    const only = values.only?.split(',') ?? NAMES;
    if (values.help || only.some((name) => !NAMES.includes(name))) throw new Error(USAGE);
    return {
      only: NAMES.filter((name) => only.includes(name)),
      rounds: toNumber('rounds', values.rounds, 9),
      seconds: toNumber('seconds', values.seconds, 1),
      connections: toNumber('connections', values.connections, 32),
      json: values.json ?? false,
      header: values.header ?? [],
      path: values.path,
      against: values.against,
    };
  } catch (error) {
    console.error(error.message);
    if (error.message !== USAGE) console.error(USAGE);
    process.exit(1);
  }
}

function toNumber(name, text, usual) {
  const number = Number(text ?? usual);
  if (!(number > 0)) throw new Error(`--${name} is not a number above 0.`);
  return number;
}
