import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Between two requests, so that no request waits for what the server does after the one before (ms). */
const PAUSE = 2;

/**
 * Requests pages in turn over one connection, and returns the times to the first byte of each (ms).
 *
 * @param {{ port: number }} server
 * @param {Record<string, string>} paths by name
 * @param {number} count of each
 */
export async function measureFirstBytes({ port }, paths, count) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times = Object.fromEntries(Object.keys(paths).map((name) => [name, []]));
  for (let round = 0; round < count; round += 1) {
    for (const [name, path] of Object.entries(paths)) {
      times[name].push(await readFirstByte({ port, path, agent }));
      await sleep(PAUSE);
    }
  }
  agent.destroy();
  return times;
}

function readFirstByte({ port, path, agent }) {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const request = get({ host: '127.0.0.1', port, path, agent }, (response) => {
      const time = performance.now() - began;
      response.resume().once('end', () => resolve(time));
      if (response.statusCode !== 200) reject(new Error(`${path} was answered with ${response.statusCode}.`));
    });
    request.once('error', reject);
  });
}
