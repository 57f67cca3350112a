import { connect } from 'node:net';

/**
 * Sends requests over keep-alive connections, and prints the result as a line of JSON. It is a separate process, so that
 * it can have a separate core. Its argument is an object with `port`, `path` (`{n}` is a number that grows), `method`,
 * `body`, `headers`, `status`, `connections` and `seconds`.
 */
const { port, path, method, body, headers, status, connections, seconds } = JSON.parse(process.argv[2]);
const [before, after = ''] = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${headers}`.split('{n}');
const rest = body
  ? `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  : '\r\n';
const hasNumber = path.includes('{n}');
const good = `HTTP/1.1 ${status} `;
const END = Buffer.from('\r\n0\r\n\r\n');
const NOTHING = Buffer.alloc(0);

const latencies = [];
const firstBytes = [];
let sent = 0;
let bytes = 0;
/** Answers with another status, and connections that closed before an answer was complete. */
let failed = 0;
let isOver = false;

const startedAt = performance.now();
setTimeout(() => {
  isOver = true;
}, seconds * 1000);
setTimeout(
  () => {
    throw new Error(`${path} was not answered within 30 seconds.`);
  },
  seconds * 1000 + 30_000,
).unref();
await Promise.all(Array.from({ length: connections }, send));
const elapsed = (performance.now() - startedAt) / 1000;
latencies.sort((a, b) => a - b);
firstBytes.sort((a, b) => a - b);
console.log(
  JSON.stringify({
    requests: latencies.length,
    failed,
    bytes,
    seconds: elapsed,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    firstByte: quantile(firstBytes, 0.5),
  }),
);

function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null;
}

/** Uses one connection until the time is over. Opens another one if the server closes it. */
async function send() {
  while (!isOver) await new Promise(useConnection);
}

function useConnection(resolve) {
  const socket = connect(port, '127.0.0.1');
  socket.setNoDelay(true);
  let began = 0;
  /** The first part of a head that arrives in parts. */
  let head = NOTHING;
  let isWaiting = true;
  let isHeadRead = false;
  let isGood = false;
  let isChunked = false;
  let left = 0;
  let tail = NOTHING;

  function next() {
    isWaiting = !isOver;
    if (isOver) return socket.destroy();
    sent += 1;
    head = NOTHING;
    isHeadRead = false;
    tail = NOTHING;
    began = performance.now();
    socket.write(hasNumber ? `${before}${sent}${after}${rest}` : `${before}${rest}`);
  }

  socket.on('connect', next);
  socket.on('error', () => {}); // 'close' follows
  socket.on('close', () => {
    if (isWaiting) failed += 1;
    resolve();
  });
  socket.on('data', (chunk) => {
    bytes += chunk.length;
    const content = readHead(chunk);
    if (!content) return;
    if (content.length > 0 && tail.length === 0) firstBytes.push(performance.now() - began);
    left -= content.length;
    tail = content.length < END.length ? Buffer.concat([tail, content]) : content;
    tail = tail.subarray(-END.length);
    if (isChunked ? !tail.equals(END) : left > 0) return;
    if (isGood) latencies.push(performance.now() - began);
    else failed += 1;
    next();
  });

  /** Returns the part of a chunk that belongs to the body. */
  function readHead(chunk) {
    if (isHeadRead) return chunk;
    const read = head.length > 0 ? Buffer.concat([head, chunk]) : chunk;
    const end = read.indexOf('\r\n\r\n');
    if (end < 0) {
      head = read;
      return undefined;
    }
    const text = read.latin1Slice(0, end);
    isHeadRead = true;
    isGood = text.startsWith(good);
    const length = /\r\ncontent-length: (\d+)/i.exec(text);
    isChunked = length === null;
    left = length ? Number(length[1]) : 0;
    return read.subarray(end + 4);
  }
}
