import request from 'supertest';
import { expect, it } from 'vitest';
import { startServer } from '#engine/testing';
import { openApp } from '../../support/product/open-app.ts';

const FAILING = ['/tour/fail/loader', '/tour/fail/render', '/tour/fail/late', '/api/tour/fail'];

it('gives failures in source files the digests that they have in the build', async () => {
  const server = await startServer();
  for (const path of FAILING) await (await fetch(server.url + path)).text();
  await server.stop();
  const lines = server
    .log()
    .split('\n')
    .filter((line) => line.includes('"A request failed."') && !line.includes('"blocked-loop"'));
  const built = lines.map((line) => (JSON.parse(line) as { digest: string }).digest);

  const { app, failures } = await openApp();
  for (const path of FAILING) await request(app).get(path);
  expect((await failures()).map((words) => words.slice(0, 8))).toEqual(built);
  expect(new Set(built).size).toBe(FAILING.length);
});
