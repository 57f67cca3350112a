import './required-node.mjs';
import { setTimeout as sleep } from 'node:timers/promises';
import { build, stopBuilder } from '../build.mjs';
import { createPool } from './http-pool.mjs';
import { judge, quantile, serve, TOKEN } from './served.mjs';

/**
 * Overloads the server: `node bench/overload.mjs`. Measures the server's capacity, sends TIMES (4) as many requests for
 * SECONDS (20) without waiting for responses, and then waits for recovery. During that time, it requests health, the
 * desk, the metrics and a file every 100 ms, which must always be answered. BENCH_PATH selects another page.
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
  `${path}: capacity ${Math.round(capacity)} requests/s; target ${Math.round(capacity * times)}, sent ${Math.round(sent / seconds)}; statuses ${JSON.stringify(statuses)}; shed according to the metrics ${shed}; p50 ${Math.round(quantile(accepted, 0.5))} ms`,
);
judge([
  { what: 'statuses other than 200 and 503', demand: 0, seen: others, isMet: others === 0 },
  { what: 'p99 of responses with 200, ms', demand: '< 2000', seen: Math.round(p99), isMet: p99 < 2000 },
  { what: 'recovery, ms', demand: '< 5000', seen: Math.round(recovery), isMet: recovery < 5000 },
  {
    what: 'responses with 200 / capacity',
    demand: 'reported',
    seen: (goodput / capacity).toFixed(2),
    isMet: goodput > 0,
  },
  ...Object.entries(asides).map(([name, { worst, wrong }]) => ({
    what: `${name} under overload: other than 200; slowest, ms`,
    demand: '0; < 1000',
    seen: `${wrong}; ${Math.round(worst)}`,
    isMet: wrong === 0 && worst < 1000,
  })),
]);

/** @returns responses per second, on 32 connections */
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
    // Times start when a request is due, so that a server gains nothing by delaying the sender.
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

/** @returns the time until ten pages in a row are answered within 250 ms each (ms) */
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
