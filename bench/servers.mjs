import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { hasRequiredNode } from '../bin/require-node.mjs';

// The command continues in the pinned Node, and this process exits with it. Until then, it must do nothing.
if (!hasRequiredNode()) await new Promise(() => {});

export const root = join(import.meta.dirname, '..');
export const TOKEN = 'a-token-of-the-benchmark';
/** Whether server and load have separate cores. */
export const isPinned = availableParallelism() > 1 && existsSync('/usr/bin/taskset');

const cleanups = new Set();
process.on('exit', () => {
  for (const clean of cleanups) clean();
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));

/** A folder that is removed when this process ends. */
export function makeFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-bench-'));
  cleanups.add(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
  return folder;
}

/** Makes a copy of a commit, with the packages of this checkout. @returns {string} the folder */
export function checkOut(commit) {
  const folder = makeFolder();
  const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 1 << 28 });
  execFileSync('tar', ['x'], { cwd: folder, input: archive });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Starts a process that ends with this one, in its own group, so that its children end too. */
export function run(args, { cwd = root, env = {}, core, stdio = ['ignore', 'pipe', 'ignore'] } = {}) {
  const node = [process.execPath, ...args];
  const [command, ...rest] = isPinned && core !== undefined ? ['taskset', '-c', String(core), ...node] : node;
  const child = spawn(command, rest, { cwd, env: { ...process.env, ...env }, stdio, detached: true });
  const kill = () => killGroup(child);
  cleanups.add(kill);
  child.once('exit', () => cleanups.delete(kill));
  return child;
}

function killGroup({ pid }, signal = 'SIGKILL') {
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended.
  }
}

/**
 * Starts a server, and resolves when it prints its address. Its log goes through a pipe, which this process reads.
 *
 * @param {{ args?: string[], cwd?: string, env?: Record<string, string>, core?: number, probe?: string }} options `probe`
 *   is a script that runs in the server first, and answers messages. By default, starts the build of this checkout
 */
export async function start({ args = ['dist/server/main.js'], cwd, env, core, probe } = {}) {
  const begun = performance.now();
  const settings = { NODE_ENV: 'production', HOST: '127.0.0.1', PORT: '0', COMPRESSION: 'off', OPERATOR_TOKEN: TOKEN };
  const data = env?.DATA_DIR ? {} : { DATA_DIR: makeFolder() };
  const probing = probe ? ['--expose-gc', '--import', `data:text/javascript,${encodeURIComponent(probe)}`] : [];
  const stdio = ['ignore', 'pipe', 'ignore', ...(probe ? ['ipc'] : [])];
  const child = run([...probing, ...args], { cwd, env: { ...settings, ...data, ...env }, core, stdio });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  return {
    port: await readPort(child),
    begun,
    /** User and system time of its processes so far (ms), with Linux's usual 100 ticks a second. */
    cpu: () => sumOf(child.pid, (pid) => sumTicks(readFileSync(`/proc/${pid}/stat`, 'utf8')) * 10),
    /** Resident memory of its processes (MB). */
    memory: () =>
      sumOf(child.pid, (pid) => /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1] / 1024),
    /** Returns the probe's answer. */
    ask: () => new Promise((resolve) => child.once('message', resolve).send('ask')),
    /** @returns the exit code, null if the signal killed it */
    stop(signal = 'SIGKILL') {
      killGroup(child, signal);
      return ended;
    },
  };
}

/** Resolves with the port in the first address that a server prints. */
function readPort(child) {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part) => {
      text = (text + part).slice(-2000);
      const found = /http:\/\/[\w.]+:(\d+)/.exec(text);
      if (found) resolve(Number(found[1]));
    });
    child.once('exit', (code) => reject(new Error(`A server exited with ${code} before it listened.\n${text}`)));
  });
}

function sumTicks(stat) {
  const [, user, system] = /.*\) (?:\S+ ){11}(\d+) (\d+)/.exec(stat);
  return Number(user) + Number(system);
}

function sumOf(pid, read) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  return children.reduce((sum, child) => sum + sumOf(child, read), read(pid));
}

/** Sends requests for some seconds, and adds the CPU time that the server used (ms). */
export async function load(server, { connections = 32, ...order }) {
  const before = server.cpu();
  const request = JSON.stringify({ port: server.port, connections, ...order });
  const child = run([join(root, 'bench/load.mjs'), request], { core: 1, stdio: ['ignore', 'pipe', 'inherit'] });
  const code = new Promise((resolve) => child.once('close', resolve));
  const text = (await child.stdout.setEncoding('utf8').toArray()).join('');
  if ((await code) !== 0) throw new Error(`The load of ${order.path} failed.`);
  return { ...JSON.parse(text), cpu: server.cpu() - before };
}

/**
 * Sends requests until the server has used so much CPU time, because that is what its code needs to be optimized. On a
 * busy machine this takes longer, so it ends after three times as long.
 */
export async function warmUp(server, { seconds, ...request }) {
  const begun = performance.now();
  for (let used = 0; used < 2000 * seconds && performance.now() - begun < 6000 * seconds; ) {
    used += (await load(server, { ...request, seconds })).cpu;
  }
}

/** Keeps this process, which reads the logs, away from the server's core. */
export function leaveServerCore() {
  if (isPinned) execFileSync('taskset', ['-cp', '1', String(process.pid)], { stdio: 'ignore' });
}

/** Returns the size of the scripts that a page loads before the visitor does anything, all of which it names (kB, gzip). */
export async function measureScripts(page) {
  const html = await (await fetch(page)).text();
  const tags = html.matchAll(
    /<(?:script\b(?![^>]*\bnomodule)|link\b[^>]*rel="modulepreload")[^>]*(?:src|href)="([^"]+)"/gi,
  );
  const inline = html.matchAll(/\bimport\s*[^"();]*"(\/[^"]+)"/g);
  const urls = new Set([...tags, ...inline].map(([, path]) => new URL(path, page).href));
  const scripts = await Promise.all([...urls].map(async (url) => (await fetch(url)).text()));
  return scripts.reduce((sum, script) => sum + gzipSync(script).length / 1000, 0);
}
