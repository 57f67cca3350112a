import { spawn } from 'node:child_process';
import { statSync, watch } from 'node:fs';
import net from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { getSystemErrorName } from 'node:util';
import { createDevBuild } from '../build/develop/dev-build.mjs';
import { toDevError } from '../build/develop/dev-error.mjs';
import { listExistingApp } from '../build/existing-app.mjs';
import { useEnvFile } from './env-file.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Editors write a file in several steps: a change is taken up when it has been quiet for this long. */
const quietMs = 15;
/** For this long an empty file may be one that is about to be written. */
const emptyMs = 300;
/** No proxy has to notice that a server goes, and nobody waits for a reply for long. */
const drain = { DRAIN_LAG: '0', DRAIN_DEADLINE: '1' };
/** A server that has not ended by then never will: its drain takes one second. */
const drainMs = 3000;
/** How many failures can still be looked up (a count). */
const keptFailures = 50;
/** What a server that did not start has said last may come after its end. */
const lastWordsMs = 1000;

const dev = createDevBuild(root);
/** What open pages are told. */
let state = { build: 0, served: 0, modules: {}, routes: {}, styles: {}, desk: '', base: '', server: '', reason: '' };
/** The process that serves. */
let current;
/** Every server that runs: the one that serves, one that ends, one that starts. */
const servers = new Set();
/** The last failures of all servers, by address: the next server tells of them too. */
let failures = [];
/** What it serves. */
let servedBuild = '';
/** The listening socket. It outlives the servers that accept from it: what comes between two of them waits in its queue. */
let socket;
let changed = new Set();
let timer;
let working = false;
let leaving = false;

/** Builds, serves, and does both again on each change under `src`, as little of it as the change asks for. */
export async function develop() {
  useEnvFile();
  process.on('SIGINT', () => leave('SIGINT'));
  process.on('SIGTERM', () => leave('SIGTERM'));
  await dev.clean();
  watch(`${root}/src`, { recursive: true }, (_event, file) => onChange(`src/${file}`));
  watchExistingApp();
  for (const path of ['build.mjs', 'build', 'package.json']) {
    watch(`${root}/${path}`, () => tellToRestart(path));
  }
  await work();
}

/** Restarts the server when a module of the existing app changes: the build does not contain it. The app reads its views itself. */
function watchExistingApp() {
  for (const folder of new Set(listExistingApp(root).map((path) => dirname(path)))) {
    watch(join(root, folder), (_event, file) => {
      const path = join(folder, file).replaceAll('\\', '/');
      if (listExistingApp(root).includes(path)) onChange(path);
    });
  }
}

function tellToRestart(file) {
  console.error(`${file} changed: start \`npm run dev\` again to use it.`);
}

function onChange(file) {
  // Editors' own files: swap files, backups and what is written aside before it is moved.
  if (/(?:^|\/)(?:\.|#)|~$|\.(?:swp|tmp)$/.test(file)) return;
  if (file === 'src/server/product/build.mjs') tellToRestart(file);
  changed.add(file.replaceAll('\\', '/'));
  clearTimeout(timer);
  timer = setTimeout(work, quietMs);
}

async function work() {
  if (working) return;
  working = true;
  do {
    await untilWritten();
    const files = [...changed];
    changed = new Set();
    await take(files);
  } while (changed.size > 0);
  working = false;
}

/** Editors empty a file before they write it. A build in between would take a page's component away, and its state. */
async function untilWritten() {
  const isEmpty = (file) => statSync(join(root, file), { throwIfNoEntry: false })?.size === 0;
  for (let waited = 0; waited < emptyMs && [...changed].some(isEmpty); waited += quietMs) await sleep(quietMs);
}

async function take(files) {
  const started = performance.now();
  try {
    const client = await dev.buildClient(files);
    const { build, served, server: serving } = state;
    state = { ...client, build: build + 1, served, server: serving, reason: files.join(', ') };
    tell();
    const server = await dev.buildServer();
    const ms = Math.round(performance.now() - started);
    console.error(files.length > 0 ? `${files.join(', ')}: built in ${ms} ms.` : `Built in ${ms} ms.`);
    const isInSource = files.every((file) => file.startsWith('src/'));
    if (server !== servedBuild || !isInSource || !isAlive(current)) await exchange(server);
    else {
      state = { ...state, served: state.build };
      tell();
    }
  } catch (error) {
    // The server that runs goes on: its pages still say what the last good build said.
    const problem = await toDevError(error, root);
    console.error(problem.text);
    state = { ...state, error: problem.error };
    tell();
    if (!isAlive(current)) console.error('Nothing is served yet: waiting for a change.');
  }
}

function tell() {
  if (isAlive(current) && current.connected) current.send({ type: 'state', state });
}

/** Starts the new server, ends the old one once the new one is loaded, and then lets the new one open what only one may open. */
async function exchange(server) {
  if (leaving) return;
  const next = spawn(process.execPath, ['--enable-source-maps', `${root}/dist/server/main.js`], {
    cwd: root,
    stdio: ['inherit', 'inherit', 'pipe', 'ipc'],
    // What did not change since the server before is not compiled again.
    env: { NODE_COMPILE_CACHE: join(root, 'dist/compile-cache'), ...process.env, ...drain, SPILLWAY_DEV: '1' },
  });
  servers.add(next);
  next.on('message', (message) => {
    if (message?.type === 'failure') failures = [...failures, message.failure].slice(-keptFailures);
  });
  next.once('exit', () => servers.delete(next));
  let said = '';
  next.stderr.on('data', (text) => {
    process.stderr.write(text);
    said = `${said}${text}`.slice(-4000);
  });
  const ended = new Promise((resolve) => next.once('exit', resolve));
  const silent = new Promise((resolve) => next.once('close', resolve));
  const loaded = await Promise.race([ask(next, 'loaded').then(() => true), ended.then(() => false)]);
  if (leaving) return;
  if (!loaded) {
    await Promise.race([silent, sleep(lastWordsMs)]);
    console.error('The new server did not start: the one before it goes on, and waits for a change.');
    state = { ...state, error: { title: 'The server did not start', problems: [{ text: said.trim() }] } };
    tell();
    return;
  }
  if (current) await end(current);
  current = next;
  servedBuild = server;
  state = { ...state, server, served: state.build };
  next.send({ type: 'turn', state, isFirst: socket === undefined, failures });
  const where = await Promise.race([ask(next, 'listen'), ended]);
  if (typeof where !== 'object') return;
  await giveSocket(next, where);
  await Promise.race([ask(next, 'listening'), ended]);
  // What was built while it started.
  tell();
  next.once('exit', (code) => {
    if (current === next && code) console.error(`The server ended with code ${code}: waiting for a change.`);
  });
}

function ask(child, type) {
  return new Promise((resolve) => {
    child.on('message', function onMessage(message) {
      if (message?.type !== type) return;
      child.off('message', onMessage);
      resolve(message);
    });
  });
}

/**
 * A handle that is bound here and listens there. A server of this process would accept connections
 * itself; Node's cluster shares its sockets by the same function.
 */
async function giveSocket(child, { host, port }) {
  const key = `${host}:${port}`;
  if (socket?.key !== key) {
    socket?.handle.close();
    const address = host === 'localhost' ? '127.0.0.1' : host;
    const code = await tryToListen(address, port);
    const handle = code ?? net._createServerHandle(address, port, net.isIP(address) || 4);
    if (typeof handle !== 'object') {
      child.send({ type: 'refused', code: code ?? getSystemErrorName(handle) });
      return;
    }
    socket = { key, handle };
  }
  child.send({ type: 'socket' }, socket.handle, { keepOpen: true });
}

/** A handle tells of a port that is taken once it listens, which it does in another process: too late. */
function tryToListen(host, port) {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', (error) => resolve(error.code));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}

function isAlive(child) {
  return child !== undefined && child.exitCode === null && child.signalCode === null;
}

function end(child) {
  if (!isAlive(child)) return Promise.resolve();
  return new Promise((resolve) => {
    const kill = setTimeout(() => child.kill('SIGKILL'), drainMs);
    child.once('exit', () => {
      clearTimeout(kill);
      resolve(undefined);
    });
    child.kill('SIGTERM');
  });
}

async function leave(signal) {
  leaving = true;
  await Promise.all([...[...servers].map(end), dev.dispose()]);
  process.exit(signal === 'SIGINT' ? 130 : 143);
}
