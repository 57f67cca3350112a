import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../support/app.ts';
import { shareBrowser } from '../support/browser.ts';

const others = createServer((_req, res) =>
  res.setHeader('Content-Type', 'text/html').end('<title>Another site</title>'),
);
let api: TestServer;
let theirs: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => others.listen(0, '127.0.0.1', resolve));
  theirs = `http://127.0.0.1:${(others.address() as AddressInfo).port}`;
  api = await startTestServer({ apiOrigins: [theirs] });
});
afterAll(() => {
  api.close();
  others.close().closeAllConnections();
});

/** Calls the API from a page of another site at this host. */
async function callFrom(host: string, path: string): Promise<string> {
  const browser = await shareBrowser();
  const page = await browser.newPage();
  await page.goto(theirs.replace('127.0.0.1', host));
  const answer = await page.evaluate(async (url) => {
    const headers = { authorization: 'Bearer token', 'content-type': 'application/json' };
    try {
      const reply = await fetch(url, { method: 'POST', headers, body: '{"a":1}' });
      return `${reply.status} ${reply.headers.get('x-request-id') === null} ${await reply.text()}`;
    } catch (error) {
      return String(error);
    }
  }, `http://localhost:${api.port}${path}`);
  await page.context().close();
  return answer;
}

test('a page of an allowed origin can call the API with a token, and read responses and problems', async () => {
  expect(await callFrom('127.0.0.1', '/api/echo')).toBe('200 false {"a":1}');
  expect(await callFrom('127.0.0.1', '/api/fail')).toMatch(/^405 false \{"type":"about:blank"/);
});

test('a page of any other origin cannot call the API', async () => {
  expect(await callFrom('localhost', '/api/echo')).toMatch(/Failed to fetch/);
});
