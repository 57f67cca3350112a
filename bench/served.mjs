import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
export const TOKEN = 'a-token-of-the-benchmark';

/** Those that run, and end with this process, and what removes their folders. */
const running = new Map();
process.on('exit', () => {
  for (const [child, remove] of running) {
    child.kill('SIGKILL');
    remove();
  }
});

/** Server and load on a core each, where that can be had: the second is this process's own. */
const canPin = availableParallelism() > 1 && existsSync('/usr/bin/taskset');

/** Runs in the server, and not in its threads: collects garbage and tells what is left. */
const probe = `
  process.channel && process.on('message', async () => {
    for (let time = 0; time < 4; time++) { gc(); await new Promise((resolve) => setTimeout(resolve, 100)); }
    const { rss, heapUsed, external } = process.memoryUsage();
    const handles = process.getActiveResourcesInfo().filter((name) => name !== 'Timeout').sort();
    process.send({ rss, heapUsed, external, handles });
  });
  process.channel?.unref();`;
const PROBED = ['--expose-gc', '--import', `data:text/javascript,${encodeURIComponent(probe)}`];

/**
 * Starts `dist`, on any free port. It ends with this process.
 *
 * @param folder with a folder `data` that stays; by default one of its own, which goes when it ends
 */
export async function serve({
  env = {},
  isProbed = false,
  nodeOptions = [],
  file = join(root, 'dist/server/main.js'),
  isPinned = canPin,
  folder: given,
} = {}) {
  const folder = given ?? mkdtempSync(join(tmpdir(), 'spillway-bench-'));
  const node = [process.execPath, ...(isProbed ? PROBED : []), ...nodeOptions, file];
  const [command, ...args] = isPinned ? ['taskset', '-c', '0', ...node] : node;
  const child = spawn(command, args, {
    cwd: root,
    env: {
      ...process.env,
      PORT: '0',
      NODE_ENV: 'production',
      COMPRESSION: 'off',
      DATA_DIR: join(folder, 'data'),
      OPERATOR_TOKEN: TOKEN,
      LOG_LEVEL: 'error',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const remove = () => given ?? rmSync(folder, { recursive: true, force: true });
  running.set(child, remove);
  child.once('exit', () => {
    running.delete(child);
    remove();
  });
  if (isPinned) spawn('taskset', ['-cp', '1', String(process.pid)], { stdio: 'ignore' });
  const port = await new Promise((resolve, reject) => {
    child.stdout.on('data', (text) => {
      const found = /Listening on http:[^\s"]+:(\d+)/.exec(String(text));
      if (found) resolve(Number(found[1]));
    });
    child.on('exit', (code) => reject(new Error(`The server ended with code ${code}.`)));
  });
  return {
    child,
    port,
    /** Of a server that is probed: memory (bytes) and handles, after a full collection. */
    look() {
      const answered = new Promise((resolve) => child.once('message', resolve));
      child.send('look');
      return answered;
    },
    /** One figure of `/metrics`, its labels added up where several have the name. */
    async metric(name) {
      const response = await fetch(`http://127.0.0.1:${port}/metrics`, {
        headers: { Authorization: `Bearer ${TOKEN}` },
      });
      const lines = (await response.text()).split('\n').filter((line) => line.startsWith(name));
      return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    },
  };
}

export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Prints what was demanded and seen, and ends with 1 where one of it was not met. */
export function judge(rows) {
  console.table(rows.map(({ what, demand, seen, isMet }) => ({ what, demand, seen, met: isMet ? 'yes' : 'NO' })));
  process.exit(rows.every(({ isMet }) => isMet) ? 0 : 1);
}
