import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolder, start } from './servers.mjs';

/**
 * Uploads files to the tour at the same time, and prints the server's memory: `node bench/uploads.mjs` after a build. COUNT
 * (20) is the number of files, MEBIBYTES (50) the size of each.
 */
const count = Number(process.env.COUNT ?? 20);
const size = Number(process.env.MEBIBYTES ?? 50) * 1024 * 1024;

const dataDir = makeFolder();
const { port, memory } = await start({ env: { DATA_DIR: dataDir } });
const part = (name, rest) => `--b\r\nContent-Disposition: form-data; name="${name}"${rest}`;
const head = `${part('_action', '\r\n\r\nforms.upload\r\n')}${part('file', '; filename="a.bin"\r\n\r\n')}`;
const tail = '\r\n--b--\r\n';
const block = randomBytes(64 * 1024);

/** Sends a file, not faster than the server reads it. @returns the status of the response */
function upload(bytes) {
  return new Promise((resolve, reject) => {
    const length = head.length + bytes + tail.length;
    const headers = { 'Content-Type': 'multipart/form-data; boundary=b', 'Content-Length': length };
    const sent = request({ host: '127.0.0.1', port, path: '/tour/forms', method: 'POST', headers, agent: false });
    sent.on('response', (response) => response.resume().on('end', () => resolve(response.statusCode)));
    sent.on('error', reject);
    let left = bytes;
    function pump() {
      while (left > 0) {
        const piece = block.subarray(0, left);
        left -= piece.length;
        if (!sent.write(piece)) return sent.once('drain', pump);
      }
      sent.end(tail);
    }
    sent.write(head);
    pump();
  });
}

await upload(1024); // loads what the first one needs
await sleep(1000);
const before = memory();
let peak = before;
const watch = setInterval(() => {
  peak = Math.max(peak, memory());
}, 50);
const since = performance.now();
const statuses = await Promise.all(Array.from({ length: count }, () => upload(size)));
const seconds = (performance.now() - since) / 1000;
await sleep(3000);
clearInterval(watch);
const left = readdirSync(join(dataDir, 'uploads'), { recursive: true }).filter((name) => name.includes('form-'));
console.log(
  `${statuses.filter((status) => status === 200).length} of ${count} uploads answered 200 in ${seconds.toFixed(1)} s.`,
);
console.log(
  `Memory (MB): ${Math.round(before)} before, ${Math.round(peak)} at the peak, ${Math.round(memory())} after.`,
);
console.log(`Files left: ${left.length}.`);
process.exit(0);
