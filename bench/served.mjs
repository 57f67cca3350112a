import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
export const TOKEN = 'a-token-of-the-benchmark';

/** Running servers, which exit with this process, and functions that remove their folders. */
const running = new Map();
process.on('exit', () => {
  for (const [child, remove] of running) {
    child.kill('SIGKILL');
    remove();
  }
});

/** Whether server and load can have separate cores. This process uses the second. */
const canPin = availableParallelism() > 1 && existsSync('/usr/bin/taskset');

/** Runs in the server's main thread: collects garbage, and reports memory and handles. */
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
 * Starts `dist` on a free port. The server exits with this process.
 *
 * @param folder contains a folder `data`, which is kept; by default a temporary folder, which is removed at the end
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
    child.on('exit', (code) => reject(new Error(`The server exited with code ${code}.`)));
  });
  return {
    child,
    port,
    /** Returns memory (bytes) and handles after a full garbage collection. Needs `isProbed`. */
    look() {
      const answered = new Promise((resolve) => child.once('message', resolve));
      child.send('look');
      return answered;
    },
    /** Returns a value of `/metrics`, summed over its labels. */
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

/** Prints demands and results, and exits with 1 if a demand is not met. */
export function judge(rows) {
  console.table(rows.map(({ what, demand, seen, isMet }) => ({ what, demand, seen, met: isMet ? 'yes' : 'NO' })));
  process.exit(rows.every(({ isMet }) => isMet) ? 0 : 1);
}
