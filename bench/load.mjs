import { connect } from 'node:net';

/**
 * Requests one page repeatedly over keep-alive connections, and prints the result as a line of JSON. It is a separate
 * process, so that it can have a separate core.
 */
const [port, path, connections, seconds] = [
  Number(process.argv[2]),
  process.argv[3],
  Number(process.argv[4]),
  Number(process.argv[5]),
];
const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: keep-alive\r\n\r\n`;
const latencies = [];
let bytes = 0;
let failures = 0;
let stopped = false;

await Promise.all(Array.from({ length: connections }, ask));
latencies.sort((a, b) => a - b);
const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))];
console.log(JSON.stringify({ requests: latencies.length, failures, bytes, p50: at(0.5), p99: at(0.99) }));
process.exit();

function ask() {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    let startedAt = 0;
    const next = () => {
      if (stopped) {
        socket.destroy();
        resolve();
        return;
      }
      text = '';
      startedAt = performance.now();
      socket.write(request);
    };
    socket.setEncoding('latin1');
    socket.on('connect', next);
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      text += chunk;
      if (!isWhole(text)) return;
      if (!text.startsWith('HTTP/1.1 200 ')) failures++;
      bytes += text.length;
      latencies.push(performance.now() - startedAt);
      next();
    });
    setTimeout(() => {
      stopped = true;
    }, seconds * 1000);
  });
}

function isWhole(text) {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, head));
  if (length) return text.length - head - 4 >= Number(length[1]);
  return text.endsWith('\r\n0\r\n\r\n');
}
