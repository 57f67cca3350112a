import { connect } from 'node:net';
import { quantile } from './statistics.mjs';

/**
 * Sends requests over keep-alive connections, and prints the result as JSON. It is a separate process, so that it can have
 * a separate core. Its argument is an object with `port`, `path` (`{n}` is a number that grows),
 * `connections`, `seconds`, and perhaps `rate`: requests a second, of all connections.
 */
const { port, path, connections, seconds, rate = Number.POSITIVE_INFINITY } = JSON.parse(process.argv[2]);
const [before, after] = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`.split('{n}');
const END = '\r\n0\r\n\r\n';

const latencies = [];
const firstBytes = [];
let sent = 0;
/** Answers with another status, and connections that closed before an answer was complete. */
let failed = 0;
let isOver = false;

const startedAt = performance.now();
setTimeout(() => {
  isOver = true;
}, seconds * 1000);
// Without an answer for 30 seconds, it exits with 13: "unsettled top-level await".
setTimeout(() => process.exit(13), seconds * 1000 + 30_000).unref();
await Promise.all(Array.from({ length: connections }, send));
console.log(
  JSON.stringify({
    requests: latencies.length,
    failed,
    seconds: (performance.now() - startedAt) / 1000,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    firstByte: quantile(firstBytes, 0.5),
  }),
);

/** Uses one connection until the time is over. Opens another one if the server closes it. */
async function send() {
  while (!isOver) await new Promise(useConnection);
}

function useConnection(resolve) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let isWaiting = true;
  let began = 0;
  /** When the next request is due, with a `rate`. */
  let due = performance.now() + (1000 * connections * Math.random()) / rate;
  let head = '';
  /** Bytes of the body that are missing; undefined in the head, NaN if it is chunked. */
  let left;
  let tail = '';

  function next() {
    isWaiting = !isOver;
    if (isOver) return socket.destroy();
    const wait = due - performance.now();
    if (wait > 1) return setTimeout(next, wait);
    due += (1000 * connections) / rate;
    sent += 1;
    head = tail = '';
    left = undefined;
    began = performance.now();
    socket.write(after === undefined ? before : `${before}${sent}${after}`);
  }

  socket.on('connect', next);
  socket.on('error', () => {}); // 'close' follows
  socket.on('close', () => {
    if (isWaiting) failed += 1;
    resolve();
  });
  socket.on('data', (chunk) => {
    let content = chunk;
    if (left === undefined) {
      // A head can arrive in parts.
      const end = chunk.indexOf('\r\n\r\n');
      head += chunk.latin1Slice(0, end < 0 ? undefined : end + 4);
      if (end < 0) return;
      left = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
      content = chunk.subarray(end + 4);
    }
    if (content.length > 0 && tail === '') firstBytes.push(performance.now() - began);
    left -= content.length;
    tail = (tail + content.subarray(-END.length).latin1Slice()).slice(-END.length);
    if (left > 0 || (Number.isNaN(left) && tail !== END)) return;
    if (head.startsWith('HTTP/1.1 200 ')) latencies.push(performance.now() - began);
    else failed += 1;
    next();
  });
}
