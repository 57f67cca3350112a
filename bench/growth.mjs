import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { insert, makeApp } from './app.mjs';
import { leaveServerCore, load, start, TOKEN, warmUp } from './servers.mjs';
import { median } from './statistics.mjs';

/** Measures how time and memory grow: `node bench/growth.mjs`. `--only page,routes` measures only these. */
const SERIES = {
  page: { title: 'page, kB', values: [10, 50, 250, 1000, 5000], measure: (size) => visit(`rows=${size * 10}`) },
  data: {
    title: 'data of a loader, kB',
    values: [1, 10, 100, 1000, 5000],
    measure: (size) => visit(`data=${size * 10}`),
  },
  connections: {
    title: 'connections',
    values: [1, 10, 100, 500, 2000],
    measure: (connections) => visit('', { connections }),
  },
  routes: { title: 'routes', values: [10, 100, 500, 2000], measure: (routes) => visit('', { routes }) },
  incidents: { title: 'incidents', values: [1000, 10_000, 100_000], measure: measureIncidents },
};

const { only } = parseArgs({ options: { only: { type: 'string' } } }).values;
const folders = new Map();
for (const [name, { title, values, measure }] of Object.entries(SERIES)) {
  if (only?.split(',').includes(name) === false) continue;
  const rows = {};
  for (const value of values) rows[`${value} ${title}`] = await measure(value);
  console.table(rows);
}
process.exit();

/** Returns the CPU time of a request to a page, and the memory after some. */
async function visit(search, { connections = 4, routes = 10 } = {}) {
  const server = await startGrown(routes);
  const order = { path: search ? `/grown?${search}` : `/route-${routes - 1}/{n}`, connections, seconds: 2 };
  leaveServerCore(true);
  await warmUp(server, order);
  const results = [];
  for (let round = 0; round < 3; round += 1) results.push(await load(server, order));
  leaveServerCore(false);
  const memory = server.memory();
  await server.stop();
  return {
    'CPU for a request (ms)': median(results.map(({ cpu, requests }) => cpu / requests)).toFixed(2),
    'memory (MB)': memory.toFixed(0),
  };
}

/** Causes so many different failures, and returns the time of the desk's list once all are stored. */
async function measureIncidents(count) {
  const server = await startGrown(10);
  const headers = { Authorization: `Bearer ${TOKEN}` };
  const ask = async (path) => (await fetch(`http://127.0.0.1:${server.port}${path}`, { headers })).text();
  for (let sent = 0, round = 0; sent < count; round += 1) {
    const { requests } = await load(server, { path: `/grown?fail=${round}-{n}`, status: 500, seconds: 2 });
    sent += requests;
  }
  while (!/^spillway_journal_waiting_bytes 0$/m.test(await ask('/metrics'))) await sleep(500);
  const times = [];
  for (let time = 0; time < 21; time += 1) {
    const begun = performance.now();
    await ask('/api/desk/incidents?sort=count');
    times.push(performance.now() - begun);
  }
  await server.stop();
  return { 'list by count (ms)': median(times).toFixed(1) };
}

/** Starts the small app with so many more routes. */
async function startGrown(routes) {
  if (!folders.has(routes)) folders.set(routes, buildGrown(routes));
  // Without these limits: one machine is one visitor, and too much load is what is measured.
  const env = { OVERLOAD_DELAY: '0', MAX_CONNECTIONS_PER_ADDRESS: '5000' };
  return start({ cwd: folders.get(routes), env, core: 0 });
}

/** Adds routes, and a page that shows `rows` rows of 100 bytes, loads `data` rows besides, and can fail in many ways. */
function buildGrown(routes) {
  const folder = makeApp();
  const product = (side, path) => join(folder, `src/${side}/product`, path);
  writeFileSync(
    product('shared', 'pages/grown.tsx'),
    `import { useData } from '#engine';
export default function Grown() {
  const { rows, data } = useData<{ rows: number; data: string[] }>();
  return <><p>{data.length}</p><ul>{Array.from({ length: rows }, (_, row) => <li key={row}>{row}: a row of a long page, with some words to read ★ and a number at its end</li>)}</ul></>;
}
`,
  );
  writeFileSync(
    product('server', 'grown.ts'),
    `export const grown = {
  loader: ({ url: { searchParams } }: { url: URL }) => {
    if (searchParams.has('fail')) throw new Error(searchParams.get('fail') ?? '');
    const text = 'a text of about a hundred characters, as those that a database returns usually are ★';
    return { rows: Number(searchParams.get('rows')), data: Array.from({ length: Number(searchParams.get('data')) }, (_, row) => \`\${row}: \${text} \${row}\`) };
  },
};
`,
  );
  const names = Array.from({ length: routes }, (_, number) => `route-${number}`);
  const toLine = (id) => `{ id: '${id}', path: '/${id}/:paragraphs', page: () => import('./pages/prose.tsx') },`;
  const grown = "{ id: 'grown', path: '/grown', page: () => import('./pages/grown.tsx') },";
  insert(product('shared', 'routes.tsx'), "{ id: 'cards'", `${grown}\n${names.map(toLine).join('\n')}`);
  const halves = product('server', 'pages.ts');
  insert(halves, 'root:', `grown, ${names.map((name) => `'${name}': { loader: () => 3 }`).join(', ')},`);
  insert(halves, 'const searchOf', "import { grown } from './grown.ts';");
  const split = 'reporting: { splitBy: (error) => (error instanceof Error ? [error.message] : []) },';
  insert(product('server', 'index.ts'), 'settings,', split);
  execFileSync(process.execPath, ['build.mjs'], { cwd: folder, stdio: 'ignore' });
  return folder;
}
