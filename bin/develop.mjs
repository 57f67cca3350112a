import { spawn } from 'node:child_process';
import { watch } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from '../build.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Editors write a file in several steps: a change is taken up when it has been quiet for this long. */
const quietMs = 40;
/** A server that has not ended by then holds a connection that a developer does not need. */
const drainMs = 1000;

let server;
let building = false;
let changedMeanwhile = false;
let timer;

/** Builds, serves, and does both again on each change under `src`. The server tells open pages to reload. */
export async function develop() {
  process.on('SIGINT', () => leave('SIGINT'));
  process.on('SIGTERM', () => leave('SIGTERM'));
  watch(`${root}/src`, { recursive: true }, onChange);
  for (const path of ['build.mjs', 'build']) {
    watch(`${root}/${path}`, () => console.error(`${path} changed: start \`npm run dev\` again to use it.`));
  }
  await rebuild();
}

function onChange() {
  clearTimeout(timer);
  timer = setTimeout(rebuild, quietMs);
}

async function rebuild() {
  if (building) {
    changedMeanwhile = true;
    return;
  }
  building = true;
  try {
    await build({ dev: true, log: console.error });
    await restart();
  } catch (error) {
    // The server that runs goes on: its pages still say what the last good build said.
    console.error(error.message);
    if (!server) console.error('Nothing is served yet: waiting for a change.');
  }
  building = false;
  if (changedMeanwhile) {
    changedMeanwhile = false;
    await rebuild();
  }
}

async function restart() {
  if (server) await end(server);
  const args = ['--enable-source-maps', `${root}/dist/server/main.js`];
  server = spawn(process.execPath, args, { cwd: root, stdio: 'inherit', env: { ...process.env, SPILLWAY_DEV: '1' } });
  server.on('exit', (code) => {
    if (code) console.error(`The server ended with code ${code}: waiting for a change.`);
  });
}

function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
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
  if (server) await end(server);
  process.exit(signal === 'SIGINT' ? 130 : 143);
}
