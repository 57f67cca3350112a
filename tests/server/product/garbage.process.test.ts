import { Agent, get } from 'node:http';
import { afterAll, expect, it } from 'vitest';
import { startServer } from '#engine/testing';

/** Matches the line that V8 writes for each collection of the young generation: JSON, but not in Node 24. */
const PROMOTED = /\bgc"?[:=]"?s\b.*?\bpromoted"?[:=](\d+)/g;

const server = await startServer({ COMPRESSION: 'off' }, undefined, ['--trace-gc', '--trace-gc-nvp']);
afterAll(server.stop);

/**
 * Memory that survives two young-generation collections is copied twice, then waits for a full collection. Two closures
 * per response once made pages a third slower, and no test that checks responses can see that. A page in progress takes
 * 300 kB.
 */
it('pages leave no memory behind', async () => {
  await load(400); // until the code is compiled
  const before = server.log().length;
  await load(250);
  const promoted = [...server.log().slice(before).matchAll(PROMOTED)].map(([, bytes]) => Number(bytes));
  expect(promoted.length).toBeGreaterThan(5);
  promoted.sort((one, other) => one - other);
  expect(promoted[Math.floor(promoted.length / 2)]).toBeLessThan(50_000);
});

async function load(requests: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 3 });
  await Promise.all(Array.from({ length: requests }, () => ask(agent)));
  agent.destroy();
}

function ask(agent: Agent) {
  return new Promise((resolve, reject) => {
    get(`${server.url}/tour/cards`, { agent }, (response) => {
      expect(response.statusCode).toBe(200);
      response.resume().once('end', resolve);
    }).once('error', reject);
  });
}
