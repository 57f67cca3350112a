import './required-node.mjs';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { insert, makeApp } from './comparison/app.mjs';
import { drawCharts } from './comparison/chart.mjs';
import { leaveServerCore, load, makeFolder, start, warmUp } from './comparison/sides.mjs';
import { median } from './comparison/statistics.mjs';

/**
 * Measures how time and memory grow, and draws docs/images/growth.svg: `node bench/growth.mjs`. It takes about ten
 * minutes. `--only page,routes` measures only these, and draws nothing.
 */
const SERIES = {
  page: { title: 'Page', x: 'size (kB)', values: [10, 50, 250, 1000, 5000], measure: measurePage },
  data: { title: 'Loader data', x: 'size (kB)', values: [1, 10, 100, 1000, 5000], measure: measureData },
  connections: { title: 'Connections', x: 'number', values: [1, 10, 100, 500, 2000], measure: measureConnections },
  routes: { title: 'Routes', x: 'number', values: [10, 100, 500, 2000], measure: measureRoutes },
  incidents: { title: 'Incidents in the desk', x: 'number', values: [1e4, 1e5, 1e6], measure: measureIncidents },
};

const root = fileURLToPath(new URL('..', import.meta.url));
const { only } = parseArgs({ options: { only: { type: 'string' } } }).values;
const unknown = only?.split(',').filter((name) => !Object.hasOwn(SERIES, name)) ?? [];
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(', ')}. Use ${Object.keys(SERIES).join(', ')}.`);
  process.exit(1);
}

const charts = [];
for (const [name, { title, x, values, measure }] of Object.entries(SERIES)) {
  if (only !== undefined && !only.split(',').includes(name)) continue;
  const points = [];
  for (const value of values) {
    points.push({ x: value, ...(await measure(value)) });
    console.log(title, JSON.stringify(points.at(-1)));
  }
  charts.push({ title, x, points });
}
if (only === undefined) writeFileSync(join(root, 'docs/images/growth.svg'), drawCharts(charts));
process.exit(0);

/** A page whose HTML has about this size, with little data. */
function measurePage(kilobytes) {
  return measureRequests(`/grown?rows=${Math.round(kilobytes * 10)}`);
}

/** A page that shows little of its data. */
function measureData(kilobytes) {
  return measureRequests(`/grown?data=${Math.round(kilobytes * 10)}`);
}

/** CPU time of one request, and memory after some. */
async function measureRequests(path) {
  const server = await startGrown(10);
  const results = await measureRounds(server, { path }, 4);
  const memory = server.memory();
  await server.stop();
  return { 'CPU for a request (ms)': median(results.map(toCpu)), 'memory (MB)': memory };
}

/** With as many clients that ask one after the other. */
async function measureConnections(connections) {
  const server = await startGrown(10);
  const results = await measureRounds(server, { path: '/cards?q={n}', connections }, connections);
  const memory = server.memory();
  await server.stop();
  const failed = results.reduce((sum, result) => sum + result.failed, 0);
  if (failed > 0) throw new Error(`${failed} requests failed with ${connections} connections.`);
  return { 'CPU for a request (ms)': median(results.map(toCpu)), 'memory (MB)': memory };
}

async function measureRoutes(count) {
  buildGrown(count);
  const begun = performance.now();
  const server = await startGrown(count);
  const started = performance.now() - begun;
  const results = await measureRounds(server, { path: `/route-${count - 1}/7` }, 4);
  const memory = server.memory();
  await server.stop();
  return {
    'CPU for a request (ms)': median(results.map(toCpu)),
    'memory (MB)': memory,
    'start (ms)': started,
    'all scripts, gzip (kB)': countScripts(count),
  };
}

/** The medians of the desk's slowest query for each page, in a SQLite store. */
function measureIncidents(count) {
  const env = { ...process.env, INCIDENTS: String(count), OCCURRENCES: String(2 * count), ASKED: '11', WHOLES: '0.05' };
  const text = execFileSync(process.execPath, [join(root, 'bench/desk-store.mjs')], { encoding: 'utf8', env });
  const last = JSON.parse(text.slice(text.lastIndexOf('\n{\n') + 1));
  return { 'slowest query (ms)': Math.max(...Object.values(last.medianMs)), 'file (MB)': last.fileMb };
}

async function measureRounds(server, request, connections) {
  leaveServerCore(true);
  await warmUp(server, request, { connections, seconds: 2 });
  const results = [];
  for (let round = 0; round < 3; round += 1) results.push(await load(server, { ...request, connections, seconds: 2 }));
  leaveServerCore(false);
  return results;
}

function toCpu({ cpu, requests }) {
  return cpu / requests;
}

/** Starts the small app with so many more routes. */
async function startGrown(routes) {
  // Without these limits: one machine is one visitor, and too much load is what is measured.
  const env = { OPERATOR_TOKEN: 'a-token-of-the-benchmark', OVERLOAD_DELAY: '0', MAX_CONNECTIONS_PER_ADDRESS: '5000' };
  return start({ args: ['bin/start.mjs'], cwd: buildGrown(routes), env });
}

function buildGrown(routes) {
  buildGrown.folders ??= new Map();
  const known = buildGrown.folders.get(routes);
  if (known) return known;
  const folder = join(makeFolder(), 'app');
  makeApp(folder);
  addGrown(folder, routes);
  execFileSync(process.execPath, ['build.mjs'], { cwd: folder, stdio: 'ignore' });
  buildGrown.folders.set(routes, folder);
  return folder;
}

function countScripts(routes) {
  const scripts = readdirSync(join(buildGrown(routes), 'dist/client'), { recursive: true, withFileTypes: true });
  return scripts
    .filter(({ name }) => name.endsWith('.js'))
    .reduce((sum, { parentPath, name }) => sum + gzipSync(readFileSync(join(parentPath, name))).length / 1000, 0);
}

/** Adds a page that shows `rows` rows of 100 bytes and loads `data` rows besides, and routes to the same page. */
function addGrown(folder, routes) {
  writeFileSync(
    join(folder, 'src/shared/product/pages/grown.tsx'),
    `import { useData } from '#engine';
export default function Grown() {
  const { rows, data } = useData<{ rows: number; data: string[] }>();
  return <><p>{data.length}</p><ul>{Array.from({ length: rows }, (_, row) => <li key={row}>{row}: a row of a long page, with some words to read ★ and a number at its end</li>)}</ul></>;
}
`,
  );
  writeFileSync(
    join(folder, 'src/server/product/grown.ts'),
    `const numberOf = (url: URL, name: string) => Number(url.searchParams.get(name) ?? 0);
export const grown = {
  loader: ({ url }: { url: URL }) => ({
    rows: numberOf(url, 'rows'),
    data: Array.from({ length: numberOf(url, 'data') }, (_, row) => \`\${row}: a text of about a hundred characters, as those that a database returns usually are ★ \${row}\`),
  }),
};
`,
  );
  const numbers = Array.from({ length: routes }, (_, number) => number);
  const lines = numbers.map(
    (number) => `{ id: 'route-${number}', path: '/route-${number}/:id', page: () => import('./pages/about.tsx') },`,
  );
  const table = join(folder, 'src/shared/product/routes.tsx');
  insert(
    table,
    "{ id: 'cards'",
    `${lines.join('\n')}\n{ id: 'grown', path: '/grown', page: () => import('./pages/grown.tsx') },`,
  );
  const halves = join(folder, 'src/server/product/pages.ts');
  insert(halves, 'root:', `grown, ${numbers.map((number) => `'route-${number}': null`).join(', ')},`);
  insert(halves, 'const searchOf', "import { grown } from './grown.ts';");
}
