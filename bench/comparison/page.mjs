import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { canReadCpu, leaveServerCore, load, start, warmUp } from './sides.mjs';
import { median, summarize } from './statistics.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Loads one page of this checkout, and the same page of another one in alternating rounds.
 *
 * @param {{ path: string, against?: string, headers: string, rounds: number, seconds: number, connections: number }} options
 */
export async function measurePage({ path, against, headers, rounds, seconds, connections }) {
  const folders = against === undefined ? { this: root } : { this: root, against: resolve(against) };
  const names = Object.keys(folders);
  const servers = {};
  const results = {};
  for (const name of names) {
    // It builds first, if its sources have changed.
    servers[name] = await start({ args: ['bin/start.mjs'], cwd: folders[name] });
    results[name] = [];
  }
  leaveServerCore(true);
  const order = { path, headers, connections, seconds };
  for (const name of names) {
    const { requests } = await load(servers[name], { ...order, seconds: 0.2 });
    if (requests === 0) throw new Error(`${folders[name]} does not answer ${path} with 200.`);
    await warmUp(servers[name], order, { connections, seconds: 2 * seconds });
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const name of round % 2 ? names.toReversed() : names) results[name].push(await load(servers[name], order));
  }
  leaveServerCore(false);
  await Promise.all(Object.values(servers).map((server) => server.stop()));

  const perSecond = (round) => round.requests / round.seconds;
  const cpu = (round) => round.cpu / round.requests; // NaN if it cannot be read
  const sides = names.map((name) => ({
    folder: folders[name],
    requestsPerSecond: median(results[name].map(perSecond)),
    cpuMs: median(results[name].map(cpu)),
    p50: median(results[name].map(({ p50 }) => p50)),
    p99: median(results[name].map(({ p99 }) => p99)),
    bytes: median(results[name].map(({ bytes, requests }) => bytes / requests)),
    failed: results[name].reduce((sum, { failed }) => sum + failed, 0),
  }));
  if (against === undefined) return { sides };
  const compare = (of) => summarize(results.this.map((round, index) => of(round) / of(results.against[index])));
  return { sides, shares: { requests: compare(perSecond), cpu: canReadCpu ? compare(cpu) : undefined } };
}
