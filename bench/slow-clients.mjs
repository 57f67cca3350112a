import './required-node.mjs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { build, stopBuilder } from '../build.mjs';
import { createPool } from './http-pool.mjs';
import { judge, quantile, serve } from './served.mjs';

/**
 * Tests slow clients: `node bench/slow-clients.mjs`. Runs CLIENTS (500) of them for SECONDS (60). A third each send their
 * headers byte by byte, send their body byte by byte, or request large files without reading them. Clients that are
 * disconnected connect again. Normal load, LOAD (0.4) of the capacity, runs before and at the same time.
 */
const clients = Number(process.env.CLIENTS ?? 500);
const seconds = Number(process.env.SECONDS ?? 60);
const share = Number(process.env.LOAD ?? 0.4);
const path = process.env.BENCH_PATH ?? '/tour/cards';

await build({ log: console.error });
await stopBuilder();
const server = await serve({ isProbed: true });
const pool = createPool({ port: server.port });
/** Requested repeatedly, it is a long response that needs no rendering. */
const file = await findFile();
const host = `Host: 127.0.0.1:${server.port}`;
const held = { headers: [], body: [], reading: [] };
const answers = {};
let stopped = false;

await load(200, 3); // warm
const capacity = await measureCapacity(5);
const before = await load(capacity * share, 15);
const memoryBefore = await measureMemory();
await load(capacity * share, 3); // warms up again, because the garbage collection discarded compiled code
const slow = Array.from({ length: clients }, (_, index) => beSlow(['headers', 'body', 'reading'][index % 3]));
await sleep(10_000);
const during = await load(capacity * share, seconds);
const memoryDuring = await measureMemory();
const late = await server.metric('nodejs_eventloop_lag_max_seconds');
stopped = true;
await Promise.all(slow);

const ratio = quantile(during.times, 0.5) / quantile(before.times, 0.5);
const perClient = (memoryDuring - memoryBefore) / 1024 / clients;
const toMebibytes = (bytes) => Math.round(bytes / 1024 / 1024);
const longest = (name) => Math.round(Math.max(0, ...held[name]) / 1000);
console.log(
  `${path}: capacity ${Math.round(capacity)} requests/s, load ${Math.round(capacity * share)} requests/s; median ${quantile(before.times, 0.5).toFixed(2)} ms before and ${quantile(during.times, 0.5).toFixed(2)} ms with ${clients} slow clients (p99 ${quantile(before.times, 0.99).toFixed(1)} and ${quantile(during.times, 0.99).toFixed(1)}); memory ${toMebibytes(memoryBefore)} and ${toMebibytes(memoryDuring)} MiB; longest event loop delay ${late.toFixed(1)} s; other statuses ${JSON.stringify(during.others)}; statuses of slow clients ${JSON.stringify(answers)}`,
);
judge([
  {
    what: 'median of the normal load / median before',
    demand: '≤ 1.5',
    seen: ratio.toFixed(2),
    isMet: ratio <= 1.5,
  },
  { what: 'normal load: statuses other than 200', demand: 0, seen: during.wrong, isMet: during.wrong === 0 },
  { what: 'memory per slow client, KiB', demand: '≤ 64', seen: Math.round(perClient), isMet: perClient <= 64 },
  { what: 'longest with slow headers, s', demand: '≤ 15', seen: longest('headers'), isMet: longest('headers') <= 15 },
  { what: 'longest with a slow body, s', demand: '≤ 35', seen: longest('body'), isMet: longest('body') <= 35 },
  { what: 'longest without reading, s', demand: '≤ 75', seen: longest('reading'), isMet: longest('reading') <= 75 },
]);

/** Returns used memory after a full collection (bytes). Resident memory varies by more than the clients use. */
async function measureMemory() {
  const { heapUsed, external } = await server.look();
  return heapUsed + external;
}

async function measureCapacity(forSeconds) {
  const end = performance.now() + forSeconds * 1000;
  let answered = 0;
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      while (performance.now() < end) if ((await pool.ask(path)).status === 200) answered++;
    }),
  );
  return answered / forSeconds;
}

/** Sends requests at a constant rate, without waiting for responses. */
async function load(rate, forSeconds) {
  const times = [];
  const waiting = [];
  const others = {};
  let wrong = 0;
  const began = performance.now();
  for (let sent = 0; ; ) {
    const elapsed = (performance.now() - began) / 1000;
    if (elapsed >= forSeconds) break;
    for (; sent < elapsed * rate; sent++) {
      const asked = performance.now();
      waiting.push(
        pool.ask(path).then(({ status, head }) => {
          if (status === 200) times.push(performance.now() - asked);
          else {
            wrong++;
            const name = status || head;
            others[name] = (others[name] ?? 0) + 1;
          }
        }),
      );
    }
    await sleep(1);
  }
  await Promise.all(waiting);
  return { times, wrong, others };
}

async function beSlow(how) {
  // Clients start over several seconds, because 500 at the same time would be a load test.
  await sleep(Math.random() * 8000);
  while (!stopped) held[how].push(await beSlowOnce(how));
}

/** @returns how long the server kept the connection (ms) */
function beSlowOnce(how) {
  return new Promise((resolve) => {
    const began = performance.now();
    const socket = connect(server.port, '127.0.0.1');
    let drip;
    socket.on('connect', () => {
      if (how === 'headers') socket.write(`GET ${path} HTTP/1.1\r\n${host}\r\nX-Slow: `);
      else if (how === 'body') socket.write(`${toPost('/tour/forms', 100_000)}_action=`);
      else {
        socket.pause();
        socket.write(`GET ${file} HTTP/1.1\r\n${host}\r\n\r\n`.repeat(24));
      }
      drip = setInterval(() => {
        if (stopped) socket.destroy();
        // No occasional reads: the system would buffer megabytes, and the client would not be slow for the server.
        else if (how !== 'reading') socket.write('x');
      }, 1000);
    });
    if (how !== 'reading') {
      socket.on('data', (text) => {
        const status = /^HTTP\/1\.1 (\d+)/.exec(text.toString('latin1'))?.[1] ?? 'more';
        answers[`${how} ${status}`] = (answers[`${how} ${status}`] ?? 0) + 1;
      });
    }
    socket.on('error', () => {});
    socket.on('close', () => {
      clearInterval(drip);
      resolve(performance.now() - began);
    });
  });
}

async function findFile() {
  const home = await (await fetch(`http://127.0.0.1:${server.port}/`)).text();
  const files = new Set(home.match(/\/assets\/[\w-]+\.js/g));
  const sized = [...files].map(async (name) => {
    const reply = await fetch(`http://127.0.0.1:${server.port}${name}`, { headers: { 'Accept-Encoding': 'identity' } });
    return { name, size: (await reply.arrayBuffer()).byteLength };
  });
  return (await Promise.all(sized)).sort((a, b) => b.size - a.size)[0].name;
}

function toPost(to, length) {
  return `POST ${to} HTTP/1.1\r\n${host}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${length}\r\n\r\n`;
}
