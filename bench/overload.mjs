import './required-node.mjs';
import { setTimeout as sleep } from 'node:timers/promises';
import { build, stopBuilder } from '../build.mjs';
import { createPool } from './http-pool.mjs';
import { judge, quantile, serve, TOKEN } from './served.mjs';

/**
 * More than can be served: `node bench/overload.mjs`. Measures what the server answers in full, asks
 * TIMES (4) as much for SECONDS (20) whether it is answered or not, and then waits for it to be itself
 * again. Meanwhile it asks each 100 ms for health, the desk, the metrics and a file, which must be
 * answered throughout. BENCH_PATH names another page.
 */
const times = Number(process.env.TIMES ?? 4);
const seconds = Number(process.env.SECONDS ?? 20);
const path = process.env.BENCH_PATH ?? '/tour/cards';

await build({ log: console.error });
await stopBuilder();
const server = await serve();
const pool = createPool({ port: server.port });

await measureCapacity(2); // warm
const capacity = await measureCapacity(5);
const { statuses, accepted, sent, asides } = await overload(capacity * times);
const recovery = await recover();
const shed = await server.metric('spillway_requests_shed_total');

const total = Object.values(statuses).reduce((sum, count) => sum + count, 0);
const others = total - (statuses[200] ?? 0) - (statuses[503] ?? 0);
const goodput = (statuses[200] ?? 0) / seconds;
const p99 = quantile(accepted, 0.99);
console.log(
  `${path}: ${Math.round(capacity)} a second are answered; asked for ${Math.round(capacity * times)}, sent ${Math.round(sent / seconds)}; statuses ${JSON.stringify(statuses)}; shed by its own count ${shed}; p50 ${Math.round(quantile(accepted, 0.5))} ms`,
);
judge([
  { what: 'answers that are neither 200 nor 503', demand: 0, seen: others, isMet: others === 0 },
  { what: 'p99 of those answered 200, ms', demand: '< 2000', seen: Math.round(p99), isMet: p99 < 2000 },
  { what: 'recovery, ms', demand: '< 5000', seen: Math.round(recovery), isMet: recovery < 5000 },
  {
    what: 'answered 200, as a share of what can be',
    demand: 'told',
    seen: (goodput / capacity).toFixed(2),
    isMet: goodput > 0,
  },
  ...Object.entries(asides).map(([name, { worst, wrong }]) => ({
    what: `${name} meanwhile: answers other than 200; worst ms`,
    demand: '0; < 1000',
    seen: `${wrong}; ${Math.round(worst)}`,
    isMet: wrong === 0 && worst < 1000,
  })),
]);

/** @returns answers a second, on 32 connections */
async function measureCapacity(forSeconds) {
  const end = performance.now() + forSeconds * 1000;
  let answered = 0;
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      while (performance.now() < end) if ((await pool.ask(path)).status === 200) answered++;
    }),
  );
  return answered / forSeconds;
}

async function overload(rate) {
  const statuses = {};
  const accepted = [];
  const asides = {};
  const waiting = [];
  let sent = 0;
  let stopped = false;
  const aside = watchAsides(asides, () => stopped);
  const began = performance.now();
  for (;;) {
    const elapsed = (performance.now() - began) / 1000;
    if (elapsed >= seconds) break;
    // Each is timed from when it was due: a server that holds up whoever asks gains nothing by it.
    for (; sent < elapsed * rate; sent++) {
      const due = began + (sent / rate) * 1000;
      const answer = pool.ask(path).then(({ status, head }) => {
        const name = status || head;
        statuses[name] = (statuses[name] ?? 0) + 1;
        if (status === 200) accepted.push(performance.now() - due);
      });
      waiting.push(answer);
    }
    await sleep(1);
  }
  stopped = true;
  await Promise.all([...waiting, aside]);
  return { statuses, accepted, sent, asides };
}

async function watchAsides(asides, isStopped) {
  const home = await (await fetch(`http://127.0.0.1:${server.port}/`)).text();
  const asset = /\/assets\/[\w./-]+\.js/.exec(home)?.[0];
  const pages = {
    '/livez': [],
    '/readyz': [],
    '/desk': [],
    '/metrics': [`Authorization: Bearer ${TOKEN}\r\n`],
    [asset]: [],
  };
  for (const name of Object.keys(pages)) asides[name] = { worst: 0, wrong: 0 };
  const own = createPool({ port: server.port });
  while (!isStopped()) {
    for (const [name, headers] of Object.entries(pages)) {
      const asked = performance.now();
      void own.ask(name, headers.join('')).then(({ status }) => {
        if (status !== 200 && !(name === '/desk' && status === 401)) asides[name].wrong++;
        asides[name].worst = Math.max(asides[name].worst, performance.now() - asked);
      });
    }
    await sleep(100);
  }
  await sleep(500);
  own.close();
}

/** @returns how long it takes until ten pages in a row are answered, each within 250 ms (ms) */
async function recover() {
  const began = performance.now();
  let inRow = 0;
  while (inRow < 10 && performance.now() - began < 60_000) {
    const asked = performance.now();
    const { status } = await pool.ask(path);
    inRow = status === 200 && performance.now() - asked < 250 ? inRow + 1 : 0;
    if (inRow === 0) await sleep(50);
  }
  return performance.now() - began;
}
