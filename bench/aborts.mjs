import './required-node.mjs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { build, stopBuilder } from '../build.mjs';
import { judge, serve } from './served.mjs';

/**
 * Measures aborted requests: `node bench/aborts.mjs`. Requests PAGES (100,000) pages and aborts them at random times,
 * half of them before the first byte of the response. Then compares memory (after a full garbage collection) and handles
 * with those after the first WARM (10,000) requests.
 */
const pages = Number(process.env.PAGES ?? 100_000);
const warm = Number(process.env.WARM ?? 10_000);
const concurrency = Number(process.env.CONCURRENCY ?? 64);
const paths = ['/tour/cards', '/tour/streaming', '/'];
/** Its last value arrives after a second, so that every request is aborted before the end. */
const streamed = '/tour/streaming';

await build({ log: console.error });
await stopBuilder();
const server = await serve({ isProbed: true });
const counts = { beforeShell: 0, afterShell: 0, whole: 0 };

await abortMany(warm);
const before = await look();
Object.assign(counts, { beforeShell: 0, afterShell: 0, whole: 0 });
const began = performance.now();
await abortMany(pages);
const seconds = (performance.now() - began) / 1000;
const after = await look();

const share = (name) => after[name] / before[name] - 1;
const percent = (value) => `${(value * 100).toFixed(1)} %`;
const mebibytes = (bytes) => Math.round(bytes / 1024 / 1024);
console.log(
  `${pages} pages in ${Math.round(seconds)} s: ${JSON.stringify(counts)}; resident ${mebibytes(before.rss)} to ${mebibytes(after.rss)} MiB, heap ${mebibytes(before.heapUsed)} to ${mebibytes(after.heapUsed)} MiB`,
);
judge([
  { what: 'growth of resident memory', demand: '≤ 10 %', seen: percent(share('rss')), isMet: share('rss') <= 0.1 },
  { what: 'growth of the heap', demand: '≤ 10 %', seen: percent(share('heapUsed')), isMet: share('heapUsed') <= 0.1 },
  {
    what: 'remaining handles',
    demand: before.handles.join(' '),
    seen: after.handles.join(' '),
    isMet: after.handles.length <= before.handles.length,
  },
  { what: 'incidents', demand: 0, seen: after.failures, isMet: after.failures === 0 },
  { what: 'pages still in progress', demand: 0, seen: after.inProgress, isMet: after.inProgress === 0 },
  {
    what: 'aborted before the shell',
    demand: 'about half',
    seen: percent(counts.beforeShell / pages),
    isMet: counts.beforeShell / pages > 0.4 && counts.beforeShell / pages < 0.7,
  },
]);

async function look() {
  await sleep(16_000); // the longest time of a request, plus a second
  return {
    ...(await server.look()),
    failures: await server.metric('spillway_failures_total'),
    inProgress: await server.metric('spillway_pages_in_progress'),
  };
}

async function abortMany(count) {
  let begun = 0;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (begun < count) {
        begun++;
        const early = begun % 2 === 0;
        await abortOne(early ? paths[begun % paths.length] : streamed, early);
      }
    }),
  );
}

/** @param early aborts before the first byte, otherwise some time after it */
function abortOne(path, early) {
  return new Promise((resolve) => {
    const socket = connect({ port: server.port, host: '127.0.0.1', noDelay: true });
    let hasBegun = false;
    let timer;
    socket.on('connect', () => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nConnection: close\r\n\r\n`);
      if (early) timer = setTimeout(() => leave(), Math.random() * 8);
    });
    socket.on('data', () => {
      if (hasBegun) return;
      hasBegun = true;
      if (early) return;
      timer = setTimeout(() => leave(), Math.random() ** 2 * 60);
    });
    socket.on('end', () => leave(true));
    socket.on('error', () => leave());

    function leave(isWhole = false) {
      clearTimeout(timer);
      if (isWhole) counts.whole++;
      else if (hasBegun) counts.afterShell++;
      else counts.beforeShell++;
      // Resets the connection, because after a FIN the server could continue to write.
      socket.resetAndDestroy();
      socket.removeAllListeners();
      socket.on('error', () => {});
      resolve();
    }
  });
}
