import type { RequestHandler } from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createHttpServer, type HttpServerOptions } from '../../../src/server/connection/http-server.ts';
import { listenOn } from '../../../src/server/connection/listen-on.ts';
import type { Count } from '../../../src/server/request/counters.ts';
import { createProxyTrust } from '../../../src/server/request/proxy-trust.ts';
import { spyOnLog, startTestServer, TEST_SERVER } from '../../support/app.ts';
import { openSocket, parseReply } from '../../support/raw-http.ts';
import { until } from '../../support/until.ts';

/** Addresses of this machine. On Linux, all of 127.0.0.0/8 is local. */
const CROWD = '127.0.0.2';
const VISITOR = '127.0.0.3';

async function start(options: Partial<HttpServerOptions>) {
  const { log, lines } = spyOnLog();
  const counted = new Map<string, number>();
  const routes: RequestHandler = (req, res, next) => {
    if (req.path === '/begun') res.write('begun');
    else if (req.path !== '/never') next();
  };
  const count: Count = (name, labels, by = 1) => {
    const key = `${name} ${Object.values(labels).join()}`;
    counted.set(key, (counted.get(key) ?? 0) + by);
  };
  const server = await startTestServer({ log, routes }, { count, ...options });
  const open = (localAddress: string, bytes = '') => openSocket(server.port, bytes, { localAddress });

  async function openMany(number: number, toAddress: (index: number) => string, bytes = '') {
    const all = Array.from({ length: number }, (_, index) => open(toAddress(index), bytes));
    await until(() => all.every(({ isOpen, isClosed }) => isOpen || isClosed), 'the connections');
    return all;
  }

  /** @returns the status, or 0 without a response */
  async function visit(localAddress: string) {
    const client = open(localAddress, 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    await client.closed;
    return parseReply(client.text).status;
  }

  const countOf = (key: string) => counted.get(`spillway_connections_${key}`) ?? 0;
  return { open, openMany, visit, countOf, lines };
}

const countOpen = (all: readonly { readonly isClosed: boolean }[]) => all.filter(({ isClosed }) => !isClosed).length;
const ask = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

describe.runIf(process.platform === 'linux')('idle connections', () => {
  it('of one address block no other visitor, and the oldest are closed for its own requests', async () => {
    const { openMany, visit, countOf, lines } = await start({ limits: { total: 128, ofSender: 32 } });
    const crowd = await openMany(300, () => CROWD);
    const visits = await Promise.all(Array.from({ length: 45 }, () => visit(VISITOR)));
    expect(new Set(visits)).toEqual(new Set([200]));
    await until(() => countOpen(crowd) <= 32, 'the connections beyond the limit to be closed');
    // On a busy machine the first have already been idle for a moment when the last connect, and are closed for them.
    const closed = countOf('closed_total address');
    expect(countOf('refused_total address') + closed).toBe(268);
    await expect.poll(() => visit(CROWD)).toBe(200);
    expect(countOf('closed_total address')).toBe(closed + 1);
    expect(lines.filter(({ msg }) => String(msg).includes('MAX_CONNECTIONS_PER_ADDRESS'))).toHaveLength(1);
  });

  it('of many addresses are closed before the total is reached, the oldest first', async () => {
    const { openMany, visit, countOf } = await start({ limits: { total: 64, ofSender: 16 } });
    const crowd = await openMany(60, (index) => `127.0.1.${index + 1}`);
    const kept = await openMany(4, (index) => `127.0.2.${index + 1}`);
    await expect.poll(() => visit(VISITOR)).toBe(200);
    for (let round = 0; round < 20; round += 1) expect(await visit(VISITOR)).toBe(200);
    expect(countOf('closed_total total')).toBeGreaterThan(0);
    expect(countOpen(kept)).toBe(4);
    expect(countOpen(crowd)).toBeLessThan(60);
  });

  it('include connections in the middle of the request head, but not those that wait for a response', async () => {
    const { open, openMany, countOf } = await start({ limits: { total: 128, ofSender: 4 } });
    const waiting = await openMany(2, () => CROWD, ask('/never'));
    const begun = open(CROWD, ask('/begun'));
    await until(() => begun.text.includes('begun'), 'the start of the head');
    const half = open(CROWD, 'GET / HTTP/1.1\r\nHost: a');
    await until(() => half.isOpen, 'the last one');
    async function askNext() {
      const next = open(CROWD, ask('/'));
      await until(() => next.text !== '' || next.isClosed, 'the response, or none');
      return next.text.slice(9, 12);
    }
    await expect.poll(askNext).toBe('200');
    await until(() => half.isClosed, 'the half-sent one to be closed');
    expect(countOpen([...waiting, begun])).toBe(3);
    expect(countOf('closed_total address')).toBe(1);
  });

  it('of a trusted proxy stay open, however many there are', async () => {
    const { openMany, visit } = await start({ limits: { total: 128, ofSender: 4 }, trust: createProxyTrust([CROWD]) });
    const proxy = await openMany(100, () => CROWD);
    expect([await visit(CROWD), await visit(VISITOR), countOpen(proxy)]).toEqual([200, 200, 100]);
  });
});

it('a server logs once that the system accepts no connections, and still serves', async () => {
  const { log, lines } = spyOnLog();
  let refused = 0;
  const count = () => {
    refused += 1;
  };
  const { server } = createHttpServer((_req, res) => res.end('here'), TEST_SERVER, { log, count });
  onTestFinished(() => void server.close().closeAllConnections());
  const url = await listenOn(server, { host: '127.0.0.1', port: 0 });
  for (const code of ['ENFILE', 'ENOMEM']) server.emit('error', Object.assign(new Error('accept'), { code }));
  expect(await (await fetch(url)).text()).toBe('here');
  expect(lines).toMatchObject([{ code: 'ENFILE', msg: expect.stringContaining('could not accept a connection') }]);
  expect(refused).toBe(2);
});
