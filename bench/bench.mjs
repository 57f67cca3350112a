import './required-node.mjs';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as esbuild } from 'esbuild';
import { excerpts } from '../build/excerpts.mjs';
import { build } from '../build.mjs';

/**
 * Compares Spillway, with all features on, with bare `node:http` and `renderToPipeableStream` of the same elements.
 * Rounds are interleaved, and medians are compared. On shared machines, ratios within one run are meaningful, absolute
 * figures much less.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const rounds = Number(process.env.ROUNDS ?? 7);
const seconds = Number(process.env.SECONDS ?? 3);
const connections = Number(process.env.CONNECTIONS ?? 32);
const canPin = availableParallelism() > 1 && existsSync('/usr/bin/taskset');

const folder = mkdtempSync(join(tmpdir(), 'spillway-bench-'));
const running = [];
process.on('exit', () => {
  for (const { child } of running) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

await build({ log: console.error });
await esbuild({
  entryPoints: [join(root, 'bench/bare.tsx')],
  outfile: join(folder, 'bare.mjs'),
  bundle: true,
  format: 'esm',
  platform: 'node',
  jsx: 'automatic',
  conditions: ['production'],
  define: { 'process.env.NODE_ENV': '"production"' },
  banner: { js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);" },
  loader: { '.module.css': 'local-css' },
  plugins: [excerpts(root)],
});

const sides = {
  bare: await start(join(folder, 'bare.mjs'), 4610),
  ours: await start(join(root, 'dist/server/main.js'), 4611),
};
// The path in `bench/product/page.tsx`, so that you measure a page of your own app.
const path = process.env.BENCH_PATH ?? new URL(sides.bare.url).pathname;
const results = { bare: [], ours: [] };
for (const side of ['bare', 'ours']) await load(side, 2); // warm
for (let round = 0; round < rounds; round++) {
  for (const side of round % 2 ? ['bare', 'ours'] : ['ours', 'bare']) results[side].push(await load(side, seconds));
}

const row = (side) => {
  const all = results[side];
  return {
    'requests/s': Math.round(median(all.map((r) => r.requests / seconds))),
    'CPU ms/request': round(median(all.map((r) => r.cpuMs / r.requests)), 3),
    'p50 ms': round(median(all.map((r) => r.p50)), 1),
    'p99 ms': round(median(all.map((r) => r.p99)), 1),
    'bytes/answer': Math.round(median(all.map((r) => r.bytes / r.requests))),
    failures: all.reduce((sum, r) => sum + r.failures, 0),
  };
};
console.table({ bare: row('bare'), ours: row('ours') });
console.log(
  `${path}, ${connections} connections, ${rounds} rounds of ${seconds} s${canPin ? ', server and load on separate cores' : ''}`,
);
console.log(`requests: ours / bare = ${ratio((r) => r.requests)}`);
console.log(`CPU:      bare / ours = ${ratio((r) => r.requests / r.cpuMs)}`);
process.exit();

/** Returns the median of the ratios per round, because machine load is similar for both sides of a round. */
function ratio(of) {
  return round(median(results.ours.map((ours, index) => of(ours) / of(results.bare[index]))), 2);
}

async function start(file, port) {
  const [command, ...args] = canPin ? ['taskset', '-c', '0', process.execPath, file] : [process.execPath, file];
  const env = {
    ...process.env,
    PORT: String(port),
    NODE_ENV: 'production',
    COMPRESSION: 'off',
    DATA_DIR: join(folder, 'data'),
  };
  const child = spawn(command, args, { env, cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  const side = { child, port, url: '' };
  running.push(side);
  side.url = await new Promise((resolve, reject) => {
    child.stdout.on('data', (text) => {
      const found = /Listening on (http:[^\s"]+)/.exec(String(text));
      if (found) resolve(found[1]);
    });
    child.on('exit', (code) => reject(new Error(`${file} exited with code ${code} before it listened.`)));
  });
  return side;
}

async function load(name, forSeconds) {
  const { child, port } = sides[name];
  const before = cpuMsOf(child.pid);
  const args = [join(root, 'bench/load.mjs'), port, path, connections, forSeconds].map(String);
  const [command, ...rest] = canPin ? ['taskset', '-c', '1', process.execPath, ...args] : [process.execPath, ...args];
  const text = await new Promise((resolve, reject) => {
    let out = '';
    const loader = spawn(command, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
    loader.stdout.on('data', (chunk) => {
      out += chunk;
    });
    loader.on('exit', (code) =>
      code === 0 ? resolve(out) : reject(new Error(`The load generator exited with code ${code}.`)),
    );
  });
  return { ...JSON.parse(text), cpuMs: cpuMsOf(child.pid) - before };
}

/** Returns user and system time of a process (ms), from /proc or from `ps`, which has only full seconds. */
function cpuMsOf(pid) {
  if (existsSync(`/proc/${pid}/stat`)) {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10; // ticks of 10 ms
  }
  const clock = execFileSync('ps', ['-o', 'cputime=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  return clock.split(/[:-]/).reduce((sum, part) => sum * 60 + Number(part), 0) * 1000;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

function round(value, digits) {
  return Number(value.toFixed(digits));
}
