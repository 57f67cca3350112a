import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../tests/support/free-port.ts';
import { bundlePlain } from './app.mjs';
import { checkOut, leaveServerCore, load, makeFolder, measureScripts, root, start, warmUp } from './servers.mjs';
import { median } from './statistics.mjs';

// Measures the figures of the README's comparison: a page of 50 cards and a JSON answer in Spillway, Next.js and React
// Router, and the answer in Express, plain and with the usual middleware. Then the page of e18e/framework-tracker's load
// test, and bare React with the same table of 1,000 rows. Installs the frameworks from npm into a temporary folder. Takes about 15 minutes:
//
//     node bench/peers.mjs

const folder = makeFolder();
const env = {
  ...process.env,
  NODE_ENV: 'production',
  NEXT_TELEMETRY_DISABLED: '1',
  LOG_LEVEL: 'warn',
  OVERLOAD_DELAY: '0',
};
const CARDS = `Array.from({ length: 50 }, (_, id) => ({ id, title: \`Card ★ \${id}\`, text: 'A sentence as long as those on cards usually are. '.repeat(3) }))`;
const READING = "{ river: 'Aare', centimetres: 212, tags: ['hourly', 'public'] }";
const LIST = `<ul>{cards.map(({ id, title, text }) => (<li key={id}><article><h2>{title}</h2><p>{text}</p><a href={\`/card/\${id}\`}>Read more</a></article></li>))}</ul>`;
const ROWS =
  'const all = Array.from({ length: 1000 }, () => ({ id: crypto.randomUUID(), name: crypto.randomUUID() }));\nconst readRows = () => new Promise((resolve) => setTimeout(() => resolve(all), 0));';
const toTable = (link, to) =>
  `<table><tbody>{rows.map(({ id, name }) => (<tr key={id}><td>{id}</td><td>{name}</td><td><${link} ${to}={\`/rows/\${id}\`}>View →</${link}></td></tr>))}</tbody></table>`;

const apps = {
  Spillway: { cwd: makeSpillway(), build: ['build.mjs'], output: 'dist', args: ['dist/server/main.js'] },
  'Next.js': {
    cwd: install('next', {
      'package.json': '{"private":true,"dependencies":{"next":"16","react":"19","react-dom":"19"}}',
      'app/layout.jsx': `export default ({ children }) => <html lang="en"><body><nav><a href="/">Cards</a></nav>{children}</body></html>;`,
      'app/page.jsx': `import Link from 'next/link';
export const dynamic = 'force-dynamic';
export default async function Page() { const cards = ${CARDS}; return <main><h1>Cards</h1><Link href="/">Cards</Link>${LIST}</main>; }`,
      'app/rows/page.jsx': `import Link from 'next/link';\n${ROWS}
export const dynamic = 'force-dynamic';
export default async function Page() { const rows = await readRows(); return ${toTable('Link', 'href')}; }`,
      'app/api/reading/route.js': `export const dynamic = 'force-dynamic';\nexport const GET = () => Response.json(${READING});`,
    }),
    build: ['node_modules/next/dist/bin/next', 'build'],
    output: '.next',
    args: ['node_modules/next/dist/bin/next', 'start'],
  },
  'React Router': {
    cwd: install('react-router', {
      'package.json':
        '{"private":true,"type":"module","dependencies":{"react-router":"8","@react-router/node":"8","@react-router/serve":"8","react":"19","react-dom":"19","isbot":"5"},"devDependencies":{"@react-router/dev":"8","vite":"7"}}',
      'app/root.jsx': `import { Link, Links, Meta, Outlet, Scripts, ScrollRestoration } from 'react-router';
export default () => <html lang="en"><head><Meta /><Links /></head><body><nav><Link to="/" prefetch="intent">Cards</Link></nav><Outlet /><ScrollRestoration /><Scripts /></body></html>;`,
      'app/routes.js': `import { index, route } from '@react-router/dev/routes';\nexport default [index('home.jsx'), route('rows', 'rows.jsx'), route('api/reading', 'reading.js')];`,
      'app/rows.jsx': `import { Link } from 'react-router';\n${ROWS}
export const loader = async () => ({ rows: await readRows() });
export default function Page({ loaderData: { rows } }) { return ${toTable('Link', 'to')}; }`,
      'app/reading.js': `export const loader = () => Response.json(${READING});`,
      'app/home.jsx': `export const loader = async () => ({ cards: ${CARDS} });
export default function Page({ loaderData: { cards } }) { return <main><h1>Cards</h1>${LIST}</main>; }`,
      'vite.config.js': `import { reactRouter } from '@react-router/dev/vite';\nexport default { plugins: [reactRouter()] };`,
    }),
    build: ['node_modules/@react-router/dev/bin.cjs', 'build'],
    output: 'build',
    args: ['node_modules/@react-router/serve/bin.cjs', 'build/server/index.js'],
  },
};

const toExpress = (middleware) => `import { createRequire } from 'node:module';
const require = createRequire(${JSON.stringify(join(root, 'package.json'))});
const express = require('express');
const app = express();
let check = (body) => body;
${middleware}
app.get('/api/reading', (_req, res) => res.json(check(${READING})));
const server = app.listen(process.env.PORT, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port));`;
const plain = {
  Express: toExpress(''),
  'Express, middleware': toExpress(`const client = require('prom-client');
const z = require('zod');
const seconds = new client.Histogram({ name: 'http_request_duration_seconds', help: 'Durations', labelNames: ['method', 'route', 'status'] });
const reading = z.object({ river: z.string(), centimetres: z.int(), tags: z.array(z.string()) });
check = (body) => reading.parse(body);
app.use(require('pino-http')({ level: process.env.LOG_LEVEL }), require('helmet')(), require('compression')(), (req, res, next) => {
  const end = seconds.startTimer({ method: req.method });
  res.on('finish', () => end({ route: req.route?.path, status: res.statusCode }));
  next();
});`),
};

/** The values of all rounds, by name and title. */
const found = {};
function add(name, title, value) {
  found[name] ??= {};
  found[name][title] ??= [];
  found[name][title].push(value);
}
for (const [name, app] of Object.entries(apps)) {
  for (let round = 0; round < 5; round += 1) {
    rmSync(join(app.cwd, app.output), { recursive: true, force: true });
    const begun = performance.now();
    execFileSync(process.execPath, app.build, { cwd: app.cwd, env, stdio: ['ignore', 'ignore', 'inherit'] });
    add(name, 'build, s', (performance.now() - begun) / 1000);
    const server = await start({ ...app, env: { ...env, PORT: String(await findFreePort()) } });
    const page = `http://localhost:${server.port}/`;
    const answer = await fetch(page);
    if (!(await answer.text()).includes('Card ★ 49')) throw new Error(`${name} does not show the cards.`);
    add(name, 'start, ms', performance.now() - server.begun);
    await sleep(2000);
    add(name, 'idle, MB', server.memory());
    add(name, 'CPU, ms a page', await measure(server, '/'));
    add(name, 'CPU, ms a JSON answer', await measure(server, '/api/reading'));
    add(name, 'JavaScript, kB gzip', await measureScripts(page));
    await server.stop();
  }
}
for (const [name, source] of Object.entries(plain)) {
  const file = join(folder, 'express.mjs');
  writeFileSync(file, source);
  for (let round = 0; round < 5; round += 1) {
    const server = await start({ args: [file], env });
    add(name, 'CPU, ms a JSON answer', await measure(server, '/api/reading'));
    await server.stop();
  }
}
console.table(mapValues(found, (titles) => mapValues(titles, (values) => median(values).toPrecision(3))));
console.table(await measureTables());
process.exit();

/** @returns requests a second of a server on one core, by the framework and the number of connections */
async function measureTables() {
  const all = { 'bare React': { cwd: folder, args: [await buildBareReact()] }, ...apps };
  const rates = mapValues(all, () => ({ 10: [], 50: [], 100: [] }));
  leaveServerCore();
  for (let round = 0; round < 3; round += 1) {
    for (const [name, app] of Object.entries(all)) {
      const server = await start({ ...app, env: { ...env, PORT: String(await findFreePort()) }, core: 0 });
      await warmUp(server, { path: '/rows', connections: 10, seconds: 2 });
      for (const [connections, found] of Object.entries(rates[name])) {
        const order = { path: '/rows', connections: Number(connections), seconds: 5 };
        const { requests, seconds } = await load(server, order);
        found.push(requests / seconds);
      }
      await server.stop();
    }
  }
  return mapValues(rates, (row) => mapValues(row, (found) => Math.round(median(found))));
}

function mapValues(object, toValue) {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, toValue(value)]));
}

async function buildBareReact() {
  const outfile = join(folder, 'bare.mjs');
  const contents = `import { createServer } from 'node:http';
import { renderToPipeableStream } from 'react-dom/server';
${ROWS}
const Page = ({ rows }) => <html lang="en"><body>${toTable('a', 'href')}</body></html>;
const server = createServer(async (_request, response) => {
  const { pipe } = renderToPipeableStream(<Page rows={await readRows()} />, {
    onShellReady: () => pipe(response.setHeader('Content-Type', 'text/html; charset=utf-8')),
  });
}).listen(process.env.PORT, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port));`;
  await bundlePlain({ stdin: { contents, loader: 'jsx', resolveDir: root }, outfile });
  return outfile;
}

/** @returns CPU time for a request (ms) */
async function measure(server, path) {
  const order = { path, connections: 8, seconds: 2 };
  await warmUp(server, order);
  const { cpu, requests } = await load(server, order);
  return cpu / requests;
}

function install(name, files) {
  const cwd = join(folder, name);
  writeFiles(cwd, files);
  execFileSync('npm', ['install', '--legacy-peer-deps', '--no-audit', '--no-fund'], { cwd, stdio: 'ignore' });
  return cwd;
}

function writeFiles(cwd, files) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
}

/** The empty app of `npm run own`, with the page of cards as its home page. */
function makeSpillway() {
  const cwd = checkOut('HEAD');
  execFileSync(process.execPath, ['bin/own.mjs', '--yes'], { cwd, stdio: 'ignore' });
  execFileSync(process.execPath, ['bin/new.mjs', 'page', '/rows'], { cwd, stdio: 'ignore' });
  writeFiles(cwd, {
    'src/shared/product/pages/home/home.tsx': `import type { PageProps } from '#engine';
import type { home } from '#product-server/pages/home.ts';
export default function Home({ data }: PageProps<typeof home>) { const { cards } = data; return <main><title>Cards</title><h1>Cards</h1>${LIST}</main>; }`,
    'src/server/product/pages/home.ts': `import { definePage } from '../context.ts';\nexport const home = definePage({ loader: () => ({ cards: ${CARDS} }) });`,
    'src/shared/product/pages/rows/rows.tsx': `import { Link, type PageProps } from '#engine';
import type { rows } from '#product-server/pages/rows.ts';
export default function Rows({ data: { rows } }: PageProps<typeof rows>) { return ${toTable('Link', 'to')}; }`,
    'src/server/product/pages/rows.ts': `import { definePage } from '../context.ts';\n${ROWS}\nexport const rows = definePage({ loader: async () => ({ rows: await readRows() }) });`,
    'src/server/product/pages/index.ts': `import { home } from './home.ts';
import { rows } from './rows.ts';
export const pages = { root: null, home, rows };`,
    'src/server/product/api/index.ts': `import * as z from 'zod';
import { operation } from '#engine';
import { implement } from '#engine/server';
const body = z.object({ river: z.string(), centimetres: z.int(), tags: z.array(z.string()) });
const reading = operation({ method: 'GET', path: '/reading', summary: 'Read it', replies: { 200: { about: 'It.', body } } });
export const createApi = () => [implement({ reading }, { reading: () => ({ status: 200, body: ${READING} }) })];`,
  });
  return cwd;
}
