import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { findFreePort } from '../../support/free-port.ts';
import { createOwnedApp, startApp } from '../../support/owned-app.ts';
import { readReply } from '../../support/pages-app.tsx';
import { HOST, PROXIES, startProxy, whyNot } from './proxies.ts';

/** Shortest duration of a test. */
const SECONDS = Number(process.env.SECONDS ?? 8);
/** Pause between two restarts (ms), in which a proxy notices that the previous replica is back. */
const PAUSE = 2500;
const TEXT = JSON.stringify({ text: 'as it was sent' });

/** Continuous load: requests per second, and the end of a complete response. */
const LOADS = {
  pages: { rate: 40, path: '/', end: '</html>' },
  streams: { rate: 10, path: '/late', end: '</html>' },
  posts: { rate: 20, path: '/api/echo', body: TEXT, end: TEXT },
};

for (const name of PROXIES) {
  it.skipIf(whyNot(name))(
    `a rolling restart of two replicas fails no request behind ${name}`,
    async () => {
      const app = createOwnedApp([], { over: 'proxied' });
      onTestFinished(() => app.remove());
      await app.build();
      const ports: [number, number] = [await findFreePort(), await findFreePort()];
      const start = (port: number) =>
        startApp(app.folder, {
          PORT: String(port),
          DATA_DIR: `${app.folder}/data-${port}`,
          PUBLIC_ORIGINS: `https://${HOST}`,
          TRUST_PROXY: '127.0.0.1',
          DRAIN_LAG: '1',
        });
      const replicas = await Promise.all(ports.map(start));
      const proxy = await startProxy(name, { replicas: [`127.0.0.1:${ports[0]}`, `127.0.0.1:${ports[1]}`] });
      const agent = new Agent({ keepAlive: true, ca: proxy.certificate, servername: HOST });

      /** Resolves with `whole`, or what was wrong with the response. */
      function ask({ path, body, end }: { path: string; body?: string; end: string }): Promise<string> {
        const headers = {
          Host: HOST,
          ...(body && { 'Content-Type': 'application/json', 'Content-Length': body.length }),
        };
        const method = body ? 'POST' : 'GET';
        const options = { host: '127.0.0.1', port: proxy.httpsPort, path, method, headers, agent, timeout: 20_000 };
        const sent = request(options).on('timeout', () => sent.destroy(new Error('no answer')));
        return readReply(sent, { body }).then(
          ({ status, text }) => (text.endsWith(end) ? 'whole' : `${status}: ${text.slice(-80)}`),
          (error: Error) => error.message,
        );
      }

      await expect.poll(() => ask(LOADS.pages), { timeout: 30_000 }).toBe('whole');
      await sleep(PAUSE); // until the proxy has seen both
      let isOver = false;
      const answers = Object.values(LOADS).map(async (load) => {
        const asked: Promise<string>[] = [];
        for (const began = performance.now(); !isOver; await sleep(5)) {
          while (asked.length < ((performance.now() - began) / 1000) * load.rate) asked.push(ask(load));
        }
        return Promise.all(asked);
      });
      const end = performance.now() + SECONDS * 1000;
      const exits: (number | null)[] = [];
      for (let turn = 0; performance.now() < end || exits.length < 2; turn = 1 - turn) {
        exits.push((await replicas[turn]?.stop()) ?? null);
        replicas[turn] = await start(Number(ports[turn]));
        await sleep(PAUSE);
      }
      isOver = true;
      const counts = Object.groupBy((await Promise.all(answers)).flat(), (answer) => answer);
      agent.destroy();
      await proxy.stop();
      await Promise.all(replicas.map((replica) => replica.stop()));
      expect(Object.keys(counts)).toEqual(['whole']);
      expect(exits.filter((code) => code !== 0)).toEqual([]);
    },
    180_000,
  );
}
