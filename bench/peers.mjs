import './required-node.mjs';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

// Measures the figures of the README's comparison: one page of 50 cards in Spillway, Next.js and React Router. Installs
// both from npm into a temporary folder. Takes about ten minutes:
//
//     node bench/peers.mjs

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'spillway-peers-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const cards = `Array.from({ length: 50 }, (_, id) => ({ id, title: \`Card ★ \${id}\`, text: 'A sentence as long as those on cards usually are. '.repeat(3) }))`;
const list = `<ul>{cards.map(({ id, title, text }) => (<li key={id}><article><h2>{title}</h2><p>{text}</p><a href={\`/card/\${id}\`}>Read more</a></article></li>))}</ul>`;

const next = makeApp('next', {
  'package.json': { private: true, dependencies: { next: '16', react: '19', 'react-dom': '19' } },
  'app/layout.jsx':
    'export default ({ children }) => <html lang="en"><body><nav><a href="/">Cards</a></nav>{children}</body></html>;',
  'app/page.jsx': `import Link from 'next/link';
export const dynamic = 'force-dynamic';
export default async function Page() { const cards = ${cards}; return <main><h1>Cards</h1><Link href="/">Cards</Link>${list}</main>; }`,
});
const reactRouter = makeApp('react-router', {
  'package.json': {
    private: true,
    type: 'module',
    dependencies: {
      'react-router': '8',
      '@react-router/node': '8',
      '@react-router/serve': '8',
      react: '19',
      'react-dom': '19',
      isbot: '5',
    },
    devDependencies: { '@react-router/dev': '8', vite: '7' },
  },
  'app/root.jsx': `import { Link, Links, Meta, Outlet, Scripts, ScrollRestoration } from 'react-router';
export default () => <html lang="en"><head><Meta /><Links /></head><body><nav><Link to="/" prefetch="intent">Cards</Link></nav><Outlet /><ScrollRestoration /><Scripts /></body></html>;`,
  'app/routes.js': `import { index } from '@react-router/dev/routes';\nexport default [index('home.jsx')];`,
  'app/home.jsx': `export const loader = async () => ({ cards: ${cards} });
export default function Page({ loaderData: { cards } }) { return <main><h1>Cards</h1>${list}</main>; }`,
  'react-router.config.js': 'export default { ssr: true };',
  'vite.config.js': `import { reactRouter } from '@react-router/dev/vite';\nexport default { plugins: [reactRouter()] };`,
});
const spillway = makeSpillway();

const apps = {
  Spillway: { cwd: spillway, build: ['build.mjs'], output: 'dist', start: ['dist/server/main.js'] },
  'Next.js': {
    cwd: next,
    build: ['node_modules/next/dist/bin/next', 'build'],
    output: '.next',
    start: ['node_modules/next/dist/bin/next', 'start'],
  },
  'React Router': {
    cwd: reactRouter,
    build: ['node_modules/@react-router/dev/bin.cjs', 'build'],
    output: 'build',
    start: ['node_modules/@react-router/serve/bin.cjs', 'build/server/index.js'],
  },
};

const found = Object.fromEntries(
  Object.keys(apps).map((name) => [name, { build: [], start: [], idle: [], cpu: [], js: 0 }]),
);
let lastPort = 3900;

for (let round = 0; round < 3; round++) {
  for (const [name, { cwd, build, output }] of Object.entries(apps)) {
    rmSync(join(cwd, output), { recursive: true, force: true });
    const begun = performance.now();
    const { status, stderr } = spawnSync(process.execPath, build, { cwd, env: toEnv(0), encoding: 'utf8' });
    if (status !== 0) throw new Error(`${name} does not build: ${stderr}`);
    found[name].build.push(performance.now() - begun);
  }
}
for (let round = 0; round < 7; round++) {
  for (const [name, app] of Object.entries(apps)) {
    const begun = performance.now();
    const { end, pids } = await start(app);
    found[name].start.push(performance.now() - begun);
    await new Promise((resolve) => setTimeout(resolve, 2000));
    found[name].idle.push(pids().reduce((sum, pid) => sum + readMemory(pid), 0));
    end();
  }
}
const running = {};
for (const [name, app] of Object.entries(apps)) {
  running[name] = await start(app);
  found[name].js = await measureScripts(running[name].port);
  await load(running[name].port, 1000);
}
for (let round = 0; round < 9; round++) {
  for (const [name, { port, pids }] of Object.entries(running)) {
    const before = pids().reduce((sum, pid) => sum + readCpu(pid), 0);
    await load(port, 500);
    found[name].cpu.push((pids().reduce((sum, pid) => sum + readCpu(pid), 0) - before) / 500);
  }
}
for (const { end } of Object.values(running)) end();

console.table(
  Object.fromEntries(
    Object.entries(found).map(([name, { build, start: starts, idle, cpu, js }]) => [
      name,
      {
        'JavaScript, kB gzip': (js / 1000).toFixed(1),
        'CPU, ms a page': median(cpu).toFixed(2),
        'start, ms': median(starts).toFixed(0),
        'build, s': (median(build) / 1000).toFixed(1),
        'idle, MB': median(idle).toFixed(0),
      },
    ]),
  ),
);

function makeApp(name, files) {
  const cwd = join(folder, name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), typeof text === 'string' ? text : JSON.stringify(text));
  }
  execFileSync('npm', ['install', '--legacy-peer-deps', '--no-audit', '--no-fund'], { cwd, stdio: 'ignore' });
  return cwd;
}

/** The empty app of `npm run own`, with the page of cards as its home page. */
function makeSpillway() {
  const cwd = join(folder, 'spillway');
  mkdirSync(cwd);
  execFileSync('tar', ['x'], {
    cwd,
    input: execFileSync('git', ['archive', 'HEAD'], { cwd: root, maxBuffer: 1 << 28 }),
  });
  symlinkSync(join(root, 'node_modules'), join(cwd, 'node_modules'));
  execFileSync(process.execPath, ['bin/own.mjs', '--yes', '--force'], { cwd, stdio: 'ignore' });
  writeFileSync(
    join(cwd, 'src/shared/product/pages/home/home.tsx'),
    `import type { PageProps } from '#engine';
export interface HomeData { cards: { id: number; title: string; text: string }[] }
export default function Home({ data: { cards } }: PageProps<HomeData>) { return <main><title>Cards</title><h1>Cards</h1>${list}</main>; }`,
  );
  const index = join(cwd, 'src/server/product/pages/index.ts');
  const text = readFileSync(index, 'utf8');
  writeFileSync(index, text.replace('home: null', `home: { loader: () => ({ cards: ${cards} }) }`));
  return cwd;
}

function toEnv(port) {
  return {
    ...process.env,
    NODE_ENV: 'production',
    NEXT_TELEMETRY_DISABLED: '1',
    PORT: String(port),
    DATA_DIR: join(folder, `data-${port}`),
    LOG_LEVEL: 'warn',
    OVERLOAD_DELAY: '0',
  };
}

async function start({ cwd, start: args }) {
  lastPort += 1;
  const port = lastPort;
  const child = spawn(process.execPath, args, { cwd, env: toEnv(port), stdio: 'ignore' });
  while (!(await get(port))) await new Promise((resolve) => setTimeout(resolve, 5));
  const pids = () => listFamily(child.pid);
  return {
    port,
    pids,
    end() {
      for (const pid of pids()) process.kill(pid, 'SIGKILL');
    },
  };
}

function listFamily(pid) {
  const children = `/proc/${pid}/task/${pid}/children`;
  const pids = existsSync(children) ? readFileSync(children, 'utf8').trim().split(' ').filter(Boolean).map(Number) : [];
  return [pid, ...pids.flatMap(listFamily)];
}

/** Seconds to milliseconds, with Linux's usual 100 ticks a second. */
function readCpu(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function readMemory(pid) {
  const [, kilobytes = 0] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

function get(port, agent) {
  return new Promise((resolve) => {
    http
      .get({ host: 'localhost', port, path: '/', agent }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode === 200));
      })
      .on('error', () => resolve(false));
  });
}

async function load(port, requests) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
  let left = requests;
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (left-- > 0) await get(port, agent);
    }),
  );
  agent.destroy();
}

/** Bytes of the scripts that the page loads before anybody does anything, compressed with gzip. */
async function measureScripts(port) {
  const site = `http://localhost:${port}/`;
  const html = await (await fetch(site)).text();
  const scripts = [...html.matchAll(/<script\b(?![^>]*nomodule)[^>]*\bsrc="([^"]+)"/gi)];
  const preloads = [...html.matchAll(/<link\b[^>]*rel="modulepreload"[^>]*>/g)].map(([tag]) =>
    /href="([^"]+)"/.exec(tag),
  );
  const imports = [...html.matchAll(/import\s[^"]*"(\/assets[^"]+)"/g)];
  const urls = new Set([...scripts, ...preloads, ...imports].map(([, url]) => url));
  const bodies = await Promise.all([...urls].map(async (url) => (await fetch(new URL(url, site))).arrayBuffer()));
  return bodies.reduce((sum, body) => sum + gzipSync(new Uint8Array(body)).length, 0);
}

function median(values) {
  return [...values].sort((one, other) => one - other)[values.length >> 1];
}
