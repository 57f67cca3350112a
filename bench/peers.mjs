import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../tests/support/free-port.ts';
import { load, makeFolder, measureScripts, root, start, warmUp } from './servers.mjs';
import { median } from './statistics.mjs';

// Measures the figures of the README's comparison: one page of 50 cards in Spillway, Next.js and React Router. Installs
// both from npm into a temporary folder. Takes about ten minutes:
//
//     node bench/peers.mjs

const folder = makeFolder();
const CARDS = `Array.from({ length: 50 }, (_, id) => ({ id, title: \`Card ★ \${id}\`, text: 'A sentence as long as those on cards usually are. '.repeat(3) }))`;
const LIST = `<ul>{cards.map(({ id, title, text }) => (<li key={id}><article><h2>{title}</h2><p>{text}</p><a href={\`/card/\${id}\`}>Read more</a></article></li>))}</ul>`;

const apps = {
  Spillway: { cwd: makeSpillway(), build: ['build.mjs'], output: 'dist', args: ['dist/server/main.js'] },
  'Next.js': {
    cwd: install('next', {
      'package.json': '{"private":true,"dependencies":{"next":"16","react":"19","react-dom":"19"}}',
      'app/layout.jsx': `export default ({ children }) => <html lang="en"><body><nav><a href="/">Cards</a></nav>{children}</body></html>;`,
      'app/page.jsx': `import Link from 'next/link';
export const dynamic = 'force-dynamic';
export default async function Page() { const cards = ${CARDS}; return <main><h1>Cards</h1><Link href="/">Cards</Link>${LIST}</main>; }`,
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
      'app/routes.js': `import { index } from '@react-router/dev/routes';\nexport default [index('home.jsx')];`,
      'app/home.jsx': `export const loader = async () => ({ cards: ${CARDS} });
export default function Page({ loaderData: { cards } }) { return <main><h1>Cards</h1>${LIST}</main>; }`,
      'vite.config.js': `import { reactRouter } from '@react-router/dev/vite';\nexport default { plugins: [reactRouter()] };`,
    }),
    build: ['node_modules/@react-router/dev/bin.cjs', 'build'],
    output: 'build',
    args: ['node_modules/@react-router/serve/bin.cjs', 'build/server/index.js'],
  },
};

const found = {};
for (const [name, app] of Object.entries(apps)) {
  const rounds = { build: [], start: [], idle: [], cpu: [] };
  for (let round = 0; round < 5; round += 1) {
    rmSync(join(app.cwd, app.output), { recursive: true, force: true });
    const begun = performance.now();
    execFileSync(process.execPath, app.build, { cwd: app.cwd, env: toEnv(), stdio: 'ignore' });
    rounds.build.push((performance.now() - begun) / 1000);
    const server = await start({ ...app, env: { ...toEnv(), PORT: String(await findFreePort()) } });
    const page = `http://localhost:${server.port}/`;
    const answer = await fetch(page);
    if (!(await answer.text()).includes('Card ★ 49')) throw new Error(`${name} does not show the cards.`);
    rounds.start.push(performance.now() - server.begun);
    await sleep(2000);
    rounds.idle.push(server.memory());
    const order = { path: '/', connections: 8, seconds: 2 };
    await warmUp(server, order);
    const { cpu, requests } = await load(server, order);
    rounds.cpu.push(cpu / requests);
    if (round === 0) rounds.scripts = [await measureScripts(page)];
    await server.stop();
  }
  found[name] = {
    'JavaScript, kB gzip': median(rounds.scripts).toFixed(1),
    'CPU, ms a page': median(rounds.cpu).toFixed(2),
    'start, ms': median(rounds.start).toFixed(0),
    'build, s': median(rounds.build).toFixed(1),
    'idle, MB': median(rounds.idle).toFixed(0),
  };
}
console.table(found);
process.exit();

function install(name, files) {
  const cwd = join(folder, name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
  execFileSync('npm', ['install', '--legacy-peer-deps', '--no-audit', '--no-fund'], { cwd, stdio: 'ignore' });
  return cwd;
}

/** The empty app of `npm run own`, with the page of cards as its home page. */
function makeSpillway() {
  const cwd = join(folder, 'spillway');
  mkdirSync(cwd);
  const archive = execFileSync('git', ['archive', 'HEAD'], { cwd: root, maxBuffer: 1 << 28 });
  execFileSync('tar', ['x'], { cwd, input: archive });
  symlinkSync(join(root, 'node_modules'), join(cwd, 'node_modules'));
  execFileSync(process.execPath, ['bin/own.mjs', '--yes'], { cwd, stdio: 'ignore' });
  writeFileSync(
    join(cwd, 'src/shared/product/pages/home/home.tsx'),
    `import type { PageProps } from '#engine';
export interface HomeData { cards: { id: number; title: string; text: string }[] }
export default function Home({ data: { cards } }: PageProps<HomeData>) { return <main><title>Cards</title><h1>Cards</h1>${LIST}</main>; }`,
  );
  const index = join(cwd, 'src/server/product/pages/index.ts');
  const text = readFileSync(index, 'utf8');
  writeFileSync(index, text.replace('home: null', `home: { loader: () => ({ cards: ${CARDS} }) }`));
  return cwd;
}

function toEnv() {
  return {
    ...process.env,
    NODE_ENV: 'production',
    NEXT_TELEMETRY_DISABLED: '1',
    LOG_LEVEL: 'warn',
    OVERLOAD_DELAY: '0',
  };
}
