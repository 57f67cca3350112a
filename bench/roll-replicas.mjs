import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../tests/support/free-port.ts';
import { HOST, startProxy } from '../tests/support/proxies.ts';
import { serve } from './served.mjs';

/** Longest shutdown of a replica after SIGTERM (ms): DRAIN_LAG, DRAIN_DEADLINE and 6 s. */
const PATIENCE = 15_000;

/** Longest response time (ms). */
const ANSWER_PATIENCE = 20_000;

/** Pause between two restarts (ms), in which a proxy notices that the previous replica is back. */
const PAUSE = 2500;

const TEXT = JSON.stringify({ text: 'as it was sent' });

/** Continuous load: requests per second, and how to recognize a complete response. */
const LOADS = {
  pages: { rate: 40, path: '/', isWhole: (text) => text.endsWith('</html>') },
  streams: { rate: 10, path: '/late', isWhole: (text) => text.includes('late is here') && text.endsWith('</html>') },
  posts: { rate: 20, path: '/api/echo', body: TEXT, isWhole: (text) => text === TEXT },
};

/**
 * Restarts two replicas of the app in `folder` (tests/fixtures/proxied, built) behind a proxy, in turn and repeatedly,
 * under continuous load.
 *
 * @param seconds minimum duration
 * @param leastRestarts minimum number of restarts, even if they take longer than `seconds`
 * @returns complete responses per load, reasons of failures, and how the replicas exited
 */
export async function rollReplicas({ proxy: name, folder, seconds, changes = {}, leastRestarts = 2 }) {
  const ports = [await findFreePort(), await findFreePort()];
  const start = (port) =>
    serve({
      file: `${folder}/dist/server/main.js`,
      isPinned: false,
      env: {
        PORT: String(port),
        HOST: '127.0.0.1',
        PUBLIC_ORIGINS: `https://${HOST}`,
        TRUST_PROXY: '127.0.0.1',
        DRAIN_LAG: '1',
        OVERLOAD_DELAY: '0',
      },
    });
  const replicas = await Promise.all(ports.map(start));
  const proxy = await startProxy(name, { replicas: ports.map((port) => `127.0.0.1:${port}`), changes });
  const agent = new Agent({ keepAlive: true, ca: proxy.certificate, servername: HOST });
  const answered = { pages: 0, streams: 0, posts: 0 };
  const failures = {};
  const ends = [];
  let killed = 0;
  await untilAnswered();
  let isOver = false;
  const loads = Object.keys(LOADS).map(load);
  const end = performance.now() + seconds * 1000;
  for (let turn = 0; performance.now() < end || ends.length < leastRestarts; turn = 1 - turn) {
    ends.push(await stop(replicas[turn].child));
    replicas[turn] = await start(ports[turn]);
    await sleep(PAUSE);
  }
  isOver = true;
  await Promise.all(loads);
  agent.destroy();
  await proxy.stop();
  await Promise.all(replicas.map(({ child }) => stop(child)));
  return { answered, failures, restarts: ends.length, unclean: ends.filter((code) => code !== 0).length, killed };

  async function untilAnswered() {
    for (let inRow = 0; inRow < 10; ) inRow = (await ask(LOADS.pages)) === 'whole' ? inRow + 1 : 0;
  }

  async function load(kind) {
    const waiting = [];
    const began = performance.now();
    for (let sent = 0; !isOver; await sleep(5)) {
      const due = ((performance.now() - began) / 1000) * LOADS[kind].rate;
      for (; sent < due; sent++) {
        waiting.push(ask(LOADS[kind]).then((how) => note(kind, how)));
      }
    }
    await Promise.all(waiting);
  }

  function note(kind, how) {
    if (how === 'whole') answered[kind]++;
    else failures[`${kind}: ${how}`] = (failures[`${kind}: ${how}`] ?? 0) + 1;
  }

  /** @returns `whole`, or what was wrong with the response */
  function ask({ path, body, isWhole }) {
    return new Promise((resolve) => {
      const headers = {
        Host: HOST,
        ...(body && { 'Content-Type': 'application/json', 'Content-Length': body.length }),
      };
      const options = { host: '127.0.0.1', port: proxy.httpsPort, path, method: body ? 'POST' : 'GET', headers, agent };
      const sent = request(options, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('error', (error) => resolve(`cut (${error.code})`));
        response.on('end', () => {
          if (response.statusCode !== 200) resolve(String(response.statusCode));
          else resolve(isWhole(text) ? 'whole' : 'a part');
        });
      });
      sent.setTimeout(ANSWER_PATIENCE, () => sent.destroy(new Error('no answer')));
      sent.on('error', (error) => resolve(error.code ?? error.message));
      sent.end(body);
    });
  }

  function stop(child) {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        killed++;
        child.kill('SIGKILL');
      }, PATIENCE);
      child.once('exit', (code) => {
        clearTimeout(timer);
        resolve(code);
      });
      child.kill('SIGTERM');
    });
  }
}
