import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const loader = fileURLToPath(new URL('load.mjs', import.meta.url));

/** Whether server and load have separate cores. */
export const isPinned = availableParallelism() > 1 && existsSync('/usr/bin/taskset');

const folders = [];
const running = new Set();
process.on('exit', () => {
  for (const child of running) killGroup(child);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));

/** A folder that is removed when this process ends. */
export function makeFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-bench-'));
  folders.push(folder);
  return folder;
}

/** Starts a process that ends with this one, in its own group, so that its children end too. */
export function run(args, { cwd, env = {}, core }) {
  const node = [process.execPath, ...args];
  const [command, ...rest] = isPinned && core !== undefined ? ['taskset', '-c', String(core), ...node] : node;
  const child = spawn(command, rest, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  child.stderr.setEncoding('utf8').on('data', (text) => {
    if (!isExpected(text)) process.stderr.write(text);
  });
  return child;
}

/** The link to the desk, and what `npm run dev` says of each build. */
const isExpected = (text) => /^(?:Sign in to the desk|Built in|src\/\S+: built in)/.test(text);

function killGroup({ pid }) {
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/**
 * Starts a server, and resolves when it says that it listens. Its log goes through a pipe, which this process reads.
 *
 * @param {{ args: string[], cwd: string, env?: Record<string, string> }} side
 */
export async function start({ args, cwd, env }) {
  const begun = performance.now();
  const settings = { NODE_ENV: 'production', HOST: '127.0.0.1', PORT: '0', COMPRESSION: 'off', DATA_DIR: makeFolder() };
  const child = run(args, { cwd, env: { ...settings, ...env }, core: 0 });
  const port = await readPort(child);
  return {
    port,
    begun,
    /** User and system time of all its threads so far (ms). */
    cpu: () => readCpu(child.pid),
    /** Resident memory (MB). */
    memory: () => readMemory(child.pid),
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      killGroup(child);
      await ended;
    },
  };
}

/** Resolves with the port of a server that says `Listening on http://…`. */
export function readPort(child) {
  return new Promise((resolve, reject) => {
    let said = '';
    function read(text) {
      said += text;
      const found = /Listening on http:[^\s"]+:(\d+)/.exec(said);
      if (!found) return;
      child.stdout.off('data', read);
      child.stdout.resume();
      resolve(Number(found[1]));
    }
    child.stdout.setEncoding('utf8').on('data', read);
    child.once('exit', (code) => reject(new Error(`A server exited with code ${code} before it listened.\n${said}`)));
  });
}

/** Sends requests for some seconds, and adds the CPU time that the server used. */
export async function load(
  server,
  { path, method = 'GET', body, headers = '', status = 200, connections = 32, seconds },
) {
  const cpu = server.cpu();
  const order = { port: server.port, path, method, body, headers, status, connections, seconds };
  const child = run([loader, JSON.stringify(order)], { core: 1 });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`The load generator exited with code ${code}.`);
  return { ...JSON.parse(out), cpu: cpu === undefined ? undefined : server.cpu() - cpu };
}

/**
 * Sends requests until the server has used so much CPU time, because that is what its code needs to be optimized. On a
 * busy machine this takes longer, so it ends after three times as long.
 */
export async function warmUp(server, request, { connections, seconds }) {
  const begun = performance.now();
  let used = 0;
  do {
    const { cpu } = await load(server, { ...request, connections, seconds: seconds / 2 });
    used += cpu ?? seconds * 500;
  } while (used < seconds * 1000 && performance.now() - begun < seconds * 3000);
}

/** Keeps this process, which reads the logs, away from the server's core; `false` allows all cores again. */
export function leaveServerCore(leaves) {
  if (!isPinned) return;
  const cores = leaves ? '1' : `0-${availableParallelism() - 1}`;
  execFileSync('taskset', ['-cp', cores, String(process.pid)], { stdio: 'ignore' });
}

/** Not on Windows. */
export const canReadCpu = readCpu(process.pid) !== undefined;

/** From /proc, else from `ps`, which has only full seconds on some systems. Undefined without both. */
function readCpu(pid) {
  if (existsSync(`/proc/${pid}/stat`)) {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10; // ticks of 10 ms
  }
  const clock = ps(pid, 'cputime');
  return clock?.split(/[:-]/).reduce((sum, part) => sum * 60 + Number(part), 0) * 1000;
}

function readMemory(pid) {
  if (existsSync(`/proc/${pid}/status`)) {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
  }
  const kilobytes = ps(pid, 'rss');
  return kilobytes && Number(kilobytes) / 1024;
}

function ps(pid, field) {
  try {
    return execFileSync('ps', ['-o', `${field}=`, '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return undefined; // no such command
  }
}
