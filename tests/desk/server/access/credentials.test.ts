import type { IncomingMessage } from 'node:http';
import { inspect } from 'node:util';
import { type RequestHandler, Router } from 'express';
import { describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { takeCredentials } from '../../../../src/desk/server/access/credentials.ts';
import { createHttpServer } from '../../../../src/server/connection/http-server.ts';
import type { Failure } from '../../../../src/server/errors/failure.ts';
import { createFunnel } from '../../../../src/server/errors/funnel.ts';
import { handleUpgrades, type Upgrades } from '../../../../src/server/front/upgrades.ts';
import { createOrigins } from '../../../../src/server/request/origins.ts';
import { createProxyTrust } from '../../../../src/server/request/proxy-trust.ts';
import { requestInfo } from '../../../../src/server/request/request-info.ts';
import { createFakePages, spyOnLog, TEST_SERVER } from '../../../support/app.ts';
import { listenInTest } from '../../../support/listen.ts';
import { askRaw } from '../../../support/raw-http.ts';
import { noPathScrubber, testMaker } from '../../../support/unguarded.ts';
import { startDeskSite } from '../../support/desk-site.ts';

const SECRET = 'a-secret-of-the-proxy';
const PROXY = { header: 'x-forwarded-user', secret: SECRET, operators: ['ada'] };
const PROXIED = { proxy: PROXY, trustProxy: ['loopback'] };

/** A site on which every kind of product code records what it sees of a request. */
async function start() {
  const { log, lines } = spyOnLog();
  const toSeen = (where: string, req: IncomingMessage) => ({
    where,
    headers: { ...req.headers },
    distinct: { ...req.headersDistinct },
    raw: [...req.rawHeaders],
    /** Everything that a careless log line would print. */
    inspected: inspect({ ...req, socket: undefined, client: undefined, info: requestInfo(req) }, { depth: 6 }),
  });
  const seen: ReturnType<typeof toSeen>[] = [];
  const failures: Failure[] = [];
  const noting =
    (where: string): RequestHandler =>
    (req, _res, next) => {
      seen.push(toSeen(where, req));
      next();
    };
  const funnel = createFunnel(testMaker, {
    log,
    sinks: {
      tracker: {
        record: (failure, visitor) => failures.push({ ...failure, ...(visitor?.id && { visitor: visitor.id }) }) > 0,
      },
    },
  });
  const site = await startDeskSite({
    ...PROXIED,
    deps: {
      log,
      funnel,
      steps: [noting('step')],
      api: Router().use(noting('API')),
      pages: createFakePages({ pages: noting('page') }),
      routes: Router().use(noting('route'), (req, _res, next) => {
        if (req.path === '/fail') throw new Error(`It broke: ${JSON.stringify([req.headers, req.rawHeaders])}`);
        next();
      }),
      existingApp: { app: noting('existing app') },
      visitorId: (req) => {
        seen.push(toSeen('visitorId', req));
        return req.headers.cookie;
      },
    },
  });
  const http = createHttpServer(site.app, TEST_SERVER, { log });
  const trust = createProxyTrust(PROXIED.trustProxy);
  const rules = {
    origins: createOrigins([], 'http://127.0.0.1'),
    trust,
    takeCredentials: takeCredentials(PROXY, trust),
  };
  const upgrades: Upgrades = {
    '/live': (req, socket, head) => {
      seen.push(toSeen('socket', req));
      new WebSocketServer({ noServer: true }).handleUpgrade(req, socket, head, (peer) => peer.close());
    },
  };
  const records = { log, funnel, scrubPath: noPathScrubber };
  handleUpgrades(http, { rules, records }, { upgrades, steps: [noting('step of a socket')] });
  const port = await listenInTest(http.server);
  const ask = (path: string, headers: readonly string[]) =>
    askRaw(port, `GET ${path} HTTP/1.1`, [`Host: 127.0.0.1:${port}`, ...headers]);
  return { ...site, seen, failures, lines, port, ask };
}

describe('product code', () => {
  it('sees other cookies unchanged, but not the session cookie', async () => {
    const { enter, ask, port, seen, failures, lines } = await start();
    const [, id = ''] = (await enter()).split('=');
    seen.length = 0;
    const others = ['a=1; b="2 ,x"', 'c=%20;d;desk2=3;xdesk=4', 'Desk=5'];
    const cookies = [
      `Cookie: a=1; desk=${id}; b="2 ,x"`,
      `COOKIE: c=%20;d; desk=second-${id};desk2=3;xdesk=4; __Host-desk=${id}`,
      `cookie: desk = ${id}`,
      'Cookie: Desk=5',
    ];
    for (const path of ['/api/asked', '/fail']) await ask(path, cookies);
    const joined = cookies.map((line) => line.slice(line.indexOf(':') + 2)).join('; ');
    const peer = new WebSocket(`ws://127.0.0.1:${port}/live`, { headers: { Cookie: joined } });
    await new Promise((resolve) => peer.on('close', resolve));

    const everywhere = ['API', 'existing app', 'page', 'route', 'socket', 'step', 'step of a socket', 'visitorId'];
    expect([...new Set(seen.map(({ where }) => where))].sort()).toEqual(everywhere);
    for (const { where, headers, distinct, raw, inspected } of seen) {
      expect(inspected, where).not.toContain(id);
      expect(headers.cookie, where).toBe(others.join('; '));
      if (where.includes('socket')) continue; // its test sends them as one line
      expect(distinct.cookie, where).toEqual(others);
      const [one, two, three] = others;
      expect(raw.slice(2), where).toEqual(['Cookie', one, 'COOKIE', two, 'Cookie', three, 'Connection', 'close']);
    }
    expect(failures).toHaveLength(1);
    expect(JSON.stringify([failures, lines])).not.toContain(id);
  });

  it.each([
    ['the name but never the secret', [`X-Auth-Proxy-Secret: ${SECRET}`], 'ada'],
    ['no name without the secret', [], undefined],
    ['no name with a wrong secret', [`X-Auth-Proxy-Secret: ${SECRET}x`], undefined],
    ['no name with two secrets', [`X-Auth-Proxy-Secret: ${SECRET}`, `x-auth-proxy-secret: ${SECRET}`], undefined],
    ['neither of two names', [`X-Auth-Proxy-Secret: ${SECRET}`, 'x-forwarded-user: eve'], undefined],
  ])('sees of an authenticating proxy %s', async (_what, headers, name) => {
    const { ask, seen } = await start();
    await ask('/fail', ['X-Forwarded-User: ada', ...headers]);
    expect(seen.length).toBeGreaterThan(3);
    for (const { where, headers, inspected } of seen) {
      expect(headers['x-forwarded-user'], where).toBe(name);
      expect(inspected, where).not.toContain(SECRET);
      expect(inspected.toLowerCase(), where).not.toContain('x-auth-proxy-secret');
      if (name === undefined) expect(inspected, where).not.toMatch(/\bada\b|\beve\b/);
    }
  });
});
