import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { askRaw } from '../../support/raw-http.ts';
import { REQUIRED_HEADERS } from '../../support/required-headers.ts';
import { HIDDEN_PATH, listBadInputs } from '../support/bad-inputs/list-bad-inputs.ts';
import { tryBadInputs } from '../support/bad-inputs/try-bad-inputs.ts';
import { OPERATOR, SITE_HOST, startWholeSite } from './whole-site.tsx';

const INPUTS = listBadInputs({
  host: SITE_HOST,
  page: '/',
  kept: '/static',
  item: '/items/',
  form: '/form',
  action: 'form.tell',
  api: '/api/echo',
  asset: '/assets/main-1.js',
  dsn: `https://spillway@${SITE_HOST}/1`,
  token: OPERATOR,
});

/** Sends every n-th input, spread over all entry points. With `BAD_INPUTS_SHARE=1`, all of them. */
const SHARE = Number(process.env.BAD_INPUTS_SHARE ?? 6);

it('bad inputs get responses with all required headers and no internal details', async () => {
  const site = await startWholeSite();
  onTestFinished(() => site.close());
  const inputs = INPUTS.filter((_, index) => index % SHARE === 0);
  const { faults, replies } = await tryBadInputs(inputs, {
    port: site.port,
    secrets: [OPERATOR, import.meta.dirname.slice(0, -'/tests/server'.length)],
    patience: 20_000, // allow for a shared machine that gives this test only a tenth of its CPU time
  });
  expect(faults).toEqual([]);
  expect(INPUTS.length).toBeGreaterThan(5000);
  expect(replies).toBeGreaterThan(inputs.length / 2);
  expect(site.lines.filter(({ level, path }) => Number(level) >= 50 || path === HIDDEN_PATH)).toEqual([]);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  expect((await askRaw(site.port, 'GET / HTTP/1.1', [`Host: ${SITE_HOST}`])).status).toBe(200);
}, 120_000);

const SOUND = REQUIRED_HEADERS.map((name) => `${name}: x\r\n`).join('');

it.each([
  ['', `HTTP/1.1 200 OK\r\n${SOUND}Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n`],
  ['no cache-control on 200', `HTTP/1.1 200 OK\r\n${SOUND.replace('cache-control: x\r\n', '')}\r\n`],
  ['status 500', `HTTP/1.1 500 x\r\n${SOUND}\r\n`],
  ['a secret in the response', `HTTP/1.1 200 OK\r\n${SOUND}\r\nhush`],
  ['injected markup', `HTTP/1.1 200 OK\r\n${SOUND}Content-Type: text/html\r\n\r\n<p><script>alert(1)</script>`],
  ['2 replies', `HTTP/1.1 200 OK\r\n${SOUND}Content-Length: 0\r\n\r\n`.repeat(2)],
  ['no end after 500 ms', undefined],
])('the test of bad inputs finds "%s"', async (fault, bytes) => {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    if (bytes === undefined) socket.resume();
    else socket.end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const input = { door: 'door', name: 'it', bytes: Buffer.from('GET / HTTP/1.1\r\n\r\n'), most: 1 };
  const { faults } = await tryBadInputs([input], { port, secrets: ['hush'], patience: 500 });
  expect(faults).toEqual(fault === '' ? [] : [expect.stringContaining(`door: ${fault}`)]);
});
