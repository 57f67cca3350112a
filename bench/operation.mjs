import './required-node.mjs';
import http from 'node:http';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import * as z from 'zod';

// Compares the CPU of a response from `implement()` with that of the same response from a plain handler, in one run:
//
//     node bench/operation.mjs [pairs]
//
// Both return ten to-dos. Each pair sends 3,000 requests to each, in alternating order.

const REQUESTS = 3000;
const CONNECTIONS = 8;

if (isMainThread) {
  const pairs = Number(process.argv[2] ?? 20);
  const server = new Worker(new URL(import.meta.url));
  const ask = (message) => {
    server.postMessage(message);
    return new Promise((resolve) => server.once('message', resolve));
  };
  const port = await ask('port');
  const ratios = [];
  for (let pair = -2; pair < pairs; pair++) {
    const cost = {};
    for (const path of pair % 2 ? ['operation', 'plain'] : ['plain', 'operation']) {
      const before = await ask('cpu');
      await load(port, `/api/${path}/7?limit=10`);
      cost[path] = (await ask('cpu')) - before;
    }
    // The first two warm up.
    if (pair >= 0) ratios.push(Math.log(cost.operation / cost.plain));
  }
  const mean = ratios.reduce((sum, ratio) => sum + ratio, 0) / pairs;
  const deviation = Math.sqrt(ratios.reduce((sum, ratio) => sum + (ratio - mean) ** 2, 0) / (pairs - 1));
  const error = (2.09 * deviation) / Math.sqrt(pairs);
  const [low, middle, high] = [mean - error, mean, mean + error].map((value) => Math.exp(value).toFixed(3));
  console.log(`operation / plain, CPU: ${middle} (${low} to ${high}, 95 % of ${pairs} pairs)`);
  await server.terminate();
} else {
  const { createTestApp } = await import('../tests/support/app.ts');
  const { implement } = await import('../src/server/engine/api/implement.ts');
  const { operation } = await import('../src/shared/engine/api/operation.ts');
  const { resource } = await import('../src/server/engine/api/resource.ts');
  const Todo = z.strictObject({ id: z.int(), title: z.string(), done: z.boolean(), createdAt: z.iso.datetime() });
  const params = z.strictObject({ list: z.int() });
  const query = z.strictObject({ limit: z.int().min(1).max(100).default(20) });
  const operations = {
    listTodos: operation({
      method: 'GET',
      path: '/operation/:list',
      summary: 'List to-dos',
      params,
      query,
      replies: { 200: { about: 'The to-dos.', body: z.array(Todo) } },
    }),
  };
  const createdAt = new Date().toISOString();
  const list = (limit) =>
    Array.from({ length: limit }, (_, id) => ({ id, title: `To-do ${id}`, done: false, createdAt }));
  const textParams = z.strictObject({ list: z.coerce.number().int() });
  const textQuery = z.strictObject({ limit: z.coerce.number().int().min(1).max(100).default(20) });
  const app = createTestApp({
    api: [
      implement(operations, { listTodos: ({ query: { limit } }) => ({ status: 200, body: list(limit) }) }),
      resource('/plain/:list', {
        GET(request, response) {
          textParams.parse(request.params);
          response.json(list(textQuery.parse(request.query).limit));
        },
      }),
    ],
  });
  const server = http.createServer(app).listen(0, '127.0.0.1');
  parentPort.on('message', (message) => {
    const { user, system } = process.threadCpuUsage();
    parentPort.postMessage(message === 'cpu' ? user + system : server.address().port);
  });
}

async function load(port, path) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let left = REQUESTS;
  const get = () =>
    new Promise((resolve, reject) => {
      http
        .get({ port, path, agent }, (response) => {
          if (response.statusCode !== 200) reject(new Error(`${path} answered ${response.statusCode}.`));
          response.resume().on('end', resolve);
        })
        .on('error', reject);
    });
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (left-- > 0) await get();
    }),
  );
  agent.destroy();
}
