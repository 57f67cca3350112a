import { existsSync, statSync, watch } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { toBuildError } from '../build/develop/build-error.mjs';
import { createDevBuild, devFolder } from '../build/develop/dev-build.mjs';
import { giveSocket, startServer } from '../build/develop/dev-server.mjs';
import { listExistingApp } from '../build/existing-app.mjs';
import { listLinkedFiles } from '../build/linked-packages.mjs';
import { isInProduct } from '../src/shared/whose-code.mjs';
import { checkSettings, useEnvFile } from './env-file.mjs';

const root = join(import.meta.dirname, '..');
/** Editors write a file in several steps. A build starts after this long without a change (ms). */
const quietMs = 15;
/** How long to wait for an empty file to be written (ms). */
const emptyMs = 300;
/** How long a server can take until it listens, if a change waits for it (ms). */
const patienceMs = 5000;
/** How often to check that npm is still running (ms). */
const parentMs = 500;
const keptFailures = 50; // that the overlay can still look up
/** When the next server loads what edits do not change (ms after the start of one). Before, pages wait for that one. */
const spareAfterMs = 800;

/** The incremental build. */
let dev;
/** State for open pages. */
let state = { build: 0, served: 0, modules: {}, routes: {}, styles: {}, others: '', base: '', server: '', reason: '' };
/** Errors of the last build of each side, or of the start of its server. Pages show the first. */
const problems = { client: undefined, server: undefined };
/** The server that accepts connections. @type {ReturnType<typeof startServer> | undefined} */
let current;
/** All running servers, including those that start or stop. */
const servers = new Set();
/** The last failures of all servers. The next server gets them too. */
let failures = [];
/** Hash of its build. */
let servedBuild = '';
/** A server that has loaded everything but the product, and the hash of what it has loaded. */
let spare;
let spareLasting;
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
    if (name !== servedBuild || !isInSource || !current?.isAlive()) {
      const next = takeSpare(lasting);
      // Pages already show an edit of a component, so the next edit can come before this server listens.
      const areServers = files.length === 0 || files.some((file) => !isInProduct(file));
      spareTimer = setTimeout(prepareSpare, areServers ? spareAfterMs : 0, lasting);
      const checkChanges = setInterval(() => unserved && next.end(), patienceMs);
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
  if (current?.isAlive()) return;
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
  if (current?.isAlive()) current.send({ type: 'state', state });
}

function prepareSpare(lasting) {
  if (leaving || (spareLasting === lasting && spare?.isAlive())) return;
  void spare?.end();
  spareLasting = lasting;
  const server = startServer(root, devFolder, (message) => {
    if (message?.type === 'failure') failures = [...failures, message.failure].slice(-keptFailures);
  });
  servers.add(server);
  void server.exited.then(() => servers.delete(server));
  spare = server;
}

function takeSpare(lasting) {
  clearTimeout(spareTimer);
  prepareSpare(lasting);
  const server = spare;
  spare = undefined;
  return server;
}

/** Starts the new server, stops the old one once the new one has loaded, then lets the new one open its resources. */
async function exchange(next, name, build) {
  if (leaving) return;
  next.send({ type: 'load' });
  await next.ask('loaded');
  if (leaving) return;
  didNotStart = !next.isAlive();
  // A change ended it.
  if (next.isEnding()) return;
  if (didNotStart) {
    const text = await next.readLastWords();
    const rest = current?.isAlive() ? ' The previous one keeps running.' : '';
    const error = { title: 'The server did not start', problems: [{ text }] };
    return report('server', { text: `The new server did not start.${rest}`, error });
  }
  const previous = current;
  current = next;
  void next.exited.then(([code]) => {
    if (current !== next || leaving) return;
    // If a change ended it, requests wait for the next server.
    if (!next.isEnding()) closeSocket();
    if (code) console.error(`The server exited with code ${code}. Nothing is served. Waiting for changes…`);
  });
  await previous?.end();
  servedBuild = name;
  problems.server = undefined;
  change({ server: name, served: build });
  next.send({ type: 'handover', state, isFirst: socket === undefined, failures });
  const where = await next.ask('listen');
  if (!next.isRunning()) return;
  socket = await giveSocket(next, where, socket);
  await next.ask('listening');
  // Sends the state of builds that finished during the start.
  tell();
}

async function leave(signal) {
  leaving = true;
  await Promise.all([...[...servers].map((server) => server.end()), dev.dispose()]);
  process.exit(signal === 'SIGINT' ? 130 : 143);
}
