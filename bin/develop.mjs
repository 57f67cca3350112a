import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { existsSync, statSync, watch } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { toBuildError } from '../build/develop/build-error.mjs';
import { createDevBuild, devFolder } from '../build/develop/dev-build.mjs';
import { giveSocket, sendToServer } from '../build/develop/send-to-server.mjs';
import { listExistingApp } from '../build/existing-app.mjs';
import { listLinkedFiles } from '../build/linked-packages.mjs';
import { isInProduct } from '../src/shared/whose-code.mjs';
import { checkSettings, useEnvFile } from './env-file.mjs';

const root = join(import.meta.dirname, '..');
/** Editors write a file in several steps. A build starts after this long without a change (ms). */
const quietMs = 15;
/** How long to wait for an empty file to be written (ms). */
const emptyMs = 300;
/** In development, no proxy has to notice that a server stops, and there are no long responses to wait for. */
const drain = { DRAIN_LAG: '0', DRAIN_DEADLINE: '1' };
/** How long a server can take until it listens, if a change waits for it (ms). */
const patienceMs = 5000;
/** When to kill a server that has not exited (ms). Its drain takes one second. */
const drainMs = 3000;
/** How often to check that npm is still running (ms). */
const parentMs = 500;
const keptFailures = 50; // that the overlay can still look up
/** How long to wait for the last output of a server that did not start (ms). */
const lastWordsMs = 1000;
/** When the next server loads what edits do not change (ms after the start of one). Before, pages wait for that one. */
const spareAfterMs = 800;

/** The incremental build. */
let dev;
/** State for open pages. */
let state = { build: 0, served: 0, modules: {}, routes: {}, styles: {}, others: '', base: '', server: '', reason: '' };
/** Errors of the last build of each side, or of the start of its server. Pages show the first. */
const problems = { client: undefined, server: undefined };
/** The server process that accepts connections. */
let current;
/** All running servers, including those that start or stop. */
const servers = new Set();
/** The last failures of all servers. The next server gets them too. */
let failures = [];
/** Hash of its build. */
let servedBuild = '';
/** A server that has loaded everything but the product, and the hash of what it has loaded. */
let spare;
let spareTimer;
/** The listening socket. It outlives the servers: connections that arrive between two servers wait in its queue. */
let socket;
let changed = new Set();
/** Folders outside of `src`. */
const watched = new Set();
let timer;
let working = false;
/** Changes that no server has yet: the time of the first, and its files. */
let unserved;
/** Resolves when the last server is exchanged. */
let serving = Promise.resolve();
let leaving = false;
/** The last server failed while it was loaded. */
let didNotStart = false;

/** Builds and serves, and repeats on each change of a source only the work that the change requires. */
export async function develop() {
  useEnvFile();
  await checkSettings();
  console.error('Building. The first time takes longest.');
  dev = await createDevBuild(root, console.error);
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => leave(signal));
  // A signal can end npm and its shell without reaching this process.
  const parent = process.ppid;
  const checkParent = () => process.ppid !== parent && !leaving && leave('SIGTERM');
  if (process.env.npm_lifecycle_event) setInterval(checkParent, parentMs);
  watch(`${root}/src`, { recursive: true }, (_event, file) => onChange(`src/${file}`));
  for (const path of ['build.mjs', 'build', 'package.json', '.env'].filter((path) => existsSync(join(root, path)))) {
    watch(join(root, path), () => tellToRestart(path));
  }
  // A first build of the server takes as long as that of the client.
  serving = dev
    .buildServer()
    .then(({ lasting }) => prepareSpare(lasting))
    .catch(() => {});
  await work();
}

/**
 * What decides on the app outside of `src`: an existing app, which is not part of the build, linked packages, and what
 * else the build reads.
 */
const listOthers = () => [...listExistingApp(root), ...listLinkedFiles(root), ...dev.listOthers()];

function watchOthers() {
  for (const folder of new Set(listOthers().map((path) => dirname(path))).difference(watched)) {
    watched.add(folder);
    watch(join(root, folder), (_event, file) => {
      const path = join(folder, file ?? '').replaceAll('\\', '/');
      if (listOthers().includes(path)) onChange(path);
    });
  }
}

function tellToRestart(file) {
  console.error(`${file} changed. Restart \`npm run dev\` to apply it.`);
}

function onChange(file) {
  // Temporary files of editors: swap files, backups, and files that are renamed after writing.
  if (/(?:^|\/)(?:\.(?!\.\/|well-known(?:\/|$))|#)|~$|\.(?:swp|tmp)$/.test(file)) return;
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
    watchOthers();
  } while (changed.size > 0);
  working = false;
}

/** Waits for changed files that are still empty. Building an emptied file would lose the page's component and state. */
async function untilWritten() {
  const isEmpty = (file) => statSync(join(root, file), { throwIfNoEntry: false })?.size === 0;
  for (let waited = 0; waited < emptyMs && [...changed].some(isEmpty); waited += quietMs) await sleep(quietMs);
}

async function take(files) {
  const started = performance.now();
  try {
    const client = await dev.buildClient(files);
    problems.client = undefined;
    problems.server = undefined; // until its next build
    tell({ ...client, build: state.build + 1, reason: toNames(files) });
  } catch (error) {
    report('client', await toBuildError(error, root));
    return;
  }
  if (unserved) unserved.files.push(...files);
  else {
    unserved = { started, files };
    serving = serving.then(serve);
  }
}

/** Pages show a change of the client meanwhile. */
async function serve() {
  const { started, files } = unserved;
  unserved = undefined;
  const { build } = state;
  try {
    const { name, lasting } = await dev.buildServer(didNotStart);
    watchOthers();
    const ms = Math.round(performance.now() - started);
    console.error(files.length > 0 ? `${toNames(files)}: built in ${ms} ms.` : `Built in ${ms} ms.`);
    const isInSource = files.every((file) => file.startsWith('src/'));
    if (name !== servedBuild || !isInSource || !isAlive(current)) {
      const next = takeSpare(lasting);
      // Pages already show an edit of a component, so the next edit can come before this server listens.
      const areServers = files.length === 0 || files.some((file) => !isInProduct(file));
      spareTimer = setTimeout(prepareSpare, areServers ? spareAfterMs : 0, lasting);
      const checkChanges = setInterval(() => unserved && end(next.child), patienceMs);
      await exchange(next, name, build);
      clearInterval(checkChanges);
    } else {
      problems.server = undefined;
      tell({ served: build });
    }
  } catch (error) {
    report('server', await toBuildError(error, root));
  }
}

/** A checkout of another branch changes many files. */
function toNames(files) {
  const names = [...new Set(files)];
  return names.length > 3 ? `${names.slice(0, 3).join(', ')}, ${names.length - 3} more` : names.join(', ');
}

/** The running server continues to serve the last good build. */
function report(side, { text, error }) {
  console.error(text);
  problems[side] = error;
  tell();
  if (isAlive(current)) return;
  closeSocket();
  console.error('Nothing is served yet. Waiting for changes…');
}

/** Otherwise requests would wait for a server that may never start. */
function closeSocket() {
  socket?.handle.close();
  socket = undefined;
}

function change(changes) {
  state = { ...state, ...changes, error: problems.client ?? problems.server };
}

function tell(changes) {
  change(changes);
  if (isAlive(current)) sendToServer(current, { type: 'state', state });
}

/** Starts a server that waits for its product. */
function startServer() {
  const child = spawn(process.execPath, ['--enable-source-maps', join(root, devFolder, 'server/develop.js')], {
    cwd: root,
    stdio: ['inherit', 'inherit', 'pipe', 'ipc'],
    // Unchanged code is not compiled again.
    env: {
      NODE_COMPILE_CACHE: join(root, devFolder, 'compile-cache'),
      ...process.env,
      SENTRY_ENVIRONMENT: process.env.SENTRY_ENVIRONMENT?.trim() || 'development',
      ...drain,
      SPILLWAY_DEV: '1',
    },
  });
  servers.add(child);
  const server = { child, said: '' };
  child.on('message', (message) => {
    if (message?.type === 'failure') failures = [...failures, message.failure].slice(-keptFailures);
  });
  child.once('exit', () => servers.delete(child));
  child.stderr.on('data', (text) => {
    process.stderr.write(text);
    server.said = `${server.said}${text}`.slice(-4000);
  });
  return server;
}

function prepareSpare(lasting) {
  if (leaving || (spare?.lasting === lasting && isAlive(spare.child))) return;
  if (spare) void end(spare.child);
  spare = Object.assign(startServer(), { lasting });
}

function takeSpare(lasting) {
  clearTimeout(spareTimer);
  prepareSpare(lasting);
  const server = spare;
  spare = undefined;
  return server;
}

/** Starts the new server, stops the old one once the new one has loaded, then lets the new one open its resources. */
async function exchange(server, name, build) {
  if (leaving) return;
  const next = server.child;
  const ended = once(next, 'exit');
  const silent = once(next, 'close');
  sendToServer(next, { type: 'load' });
  await Promise.race([ask(next, 'loaded'), ended]);
  if (leaving) return;
  didNotStart = !isAlive(next);
  if (didNotStart) {
    await Promise.race([silent, sleep(lastWordsMs)]);
    const rest = isAlive(current) ? ' The previous one keeps running.' : '';
    const error = { title: 'The server did not start', problems: [{ text: server.said.trim() }] };
    return report('server', { text: `The new server did not start.${rest}`, error });
  }
  const previous = current;
  current = next;
  next.once('exit', (code) => {
    if (current !== next || leaving) return;
    // If a change ended it, requests wait for the next server.
    if (!next.killed) closeSocket();
    if (code) console.error(`The server exited with code ${code}. Nothing is served. Waiting for changes…`);
  });
  if (previous) await end(previous);
  servedBuild = name;
  problems.server = undefined;
  change({ server: name, served: build });
  sendToServer(next, { type: 'handover', state, isFirst: socket === undefined, failures });
  const where = await Promise.race([ask(next, 'listen'), ended]);
  if (!isRunning(next)) return;
  socket = await giveSocket(next, where, socket);
  await Promise.race([ask(next, 'listening'), ended]);
  // Sends the state of builds that finished during the start.
  tell();
}

async function ask(child, type) {
  for await (const [message] of on(child, 'message')) if (message?.type === type) return message;
}

function isAlive(child) {
  return child !== undefined && !child.killed && isRunning(child);
}

function isRunning(child) {
  return child.exitCode === null && child.signalCode === null;
}

async function end(child) {
  if (!isRunning(child)) return;
  const kill = setTimeout(() => child.kill('SIGKILL'), drainMs);
  child.kill('SIGTERM');
  await once(child, 'exit');
  clearTimeout(kill);
}

async function leave(signal) {
  leaving = true;
  await Promise.all([...[...servers].map(end), dev.dispose()]);
  process.exit(signal === 'SIGINT' ? 130 : 143);
}
