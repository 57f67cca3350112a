import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { get as getOverHttp, Agent as PlainAgent } from 'node:http';
import { connect, constants } from 'node:http2';
import { Agent, type RequestOptions, request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { createFolder } from '../../support/folder.ts';
import { createOwnedApp, type OwnedApp, type RunningApp, startApp } from '../../support/owned-app.ts';
import { readReply } from '../../support/pages-app.tsx';
import { HOST, PROXIES, type RunningProxy, readExample, readNginxParts, startProxy, whyNot } from './proxies.ts';

const ORIGIN = `https://${HOST}`;
const OPERATOR_TOKEN = 'a-token-of-sixteen-characters';

/** The visitors' address, which differs from the proxy's. On Linux, all of 127.0.0.0/8 is local. */
const VISITOR = '127.0.0.3';

/** The secret in the example for an authenticating proxy. */
const PROXY_SECRET = '4f1d8e0b6c2a97533be1c05d';
const AUTH_PROXY = { AUTH_PROXY_HEADER: 'X-Forwarded-User', AUTH_PROXY_SECRET: PROXY_SECRET };

/** How long the fixture's deferred value takes (ms). */
const LATE = 1000;

const FORGED = {
  'X-Forwarded-For': '6.6.6.6',
  'X-Forwarded-Proto': 'gopher',
  'X-Forwarded-Host': 'evil.example',
  'X-Real-IP': '6.6.6.6',
  'X-Request-Id': 'forged-by-a-visitor',
  Forwarded: 'for=6.6.6.6;proto=gopher;host=evil.example',
  'X-Forwarded-User': 'forged-by-a-visitor',
  'X-Auth-Proxy-Secret': 'forged-by-a-visitor',
};
const FORGERY = /6\.6\.6\.6|gopher|evil\.example|forged-by/;

let app: OwnedApp;
beforeAll(async () => {
  app = createOwnedApp([], { over: 'proxied' });
  await app.build();
});
afterAll(() => app?.remove());

let count = 0;
async function start(env: Readonly<Record<string, string>>): Promise<RunningApp> {
  count++;
  return startApp(app.folder, {
    PUBLIC_ORIGINS: ORIGIN,
    DATA_DIR: join(app.folder, `data-${count}`),
    OPERATOR_TOKEN,
    ...env,
  });
}

/** The response of `/api/asked`, which also contains all request headers. */
interface Told {
  readonly ours: { address: string; origin: string; secure: boolean; requestId: string };
  readonly express: { ip: string; protocol: string; hostname: string };
  readonly headers: Record<string, string>;
}

describe.each(PROXIES)('behind %s', (name) => {
  const isLinux = process.platform === 'linux';
  const reason = isLinux ? whyNot(name) : 'Only Linux provides separate loopback addresses for visitors.';
  if (reason) {
    it.skip(reason);
    return;
  }
  let site: RunningApp;
  let proxy: RunningProxy;
  beforeAll(async () => {
    site = await start({ TRUST_PROXY: '127.0.0.1' });
    proxy = await startInFrontOf(site);
  });
  afterAll(async () => {
    await proxy?.stop();
    await site?.stop();
  });

  function startInFrontOf({ url }: RunningApp, changes: Readonly<Record<string, string>> = {}): Promise<RunningProxy> {
    const { host } = new URL(url);
    return startProxy(name, { replicas: [host, host], changes });
  }

  /** A server with other settings, and a proxy in front of it, until the test ends. */
  async function startPair(env: Readonly<Record<string, string>>, changes?: Readonly<Record<string, string>>) {
    const server = await start(env);
    onTestFinished(async () => void (await server.stop()));
    const front = await startInFrontOf(server, changes);
    onTestFinished(() => front.stop());
    return { server, front };
  }

  function open(path: string, options: RequestOptions = {}, { httpsPort, certificate } = proxy) {
    return request({
      host: '127.0.0.1',
      port: httpsPort,
      path,
      localAddress: VISITOR,
      servername: HOST,
      ca: certificate,
      agent: false,
      ...options,
      headers: { Host: HOST, ...(options.headers as Record<string, string>) },
    });
  }

  it.each([
    ['by its address', '127.0.0.1'],
    ['by the number of proxies', '1'],
  ])('identifies the visitor if it is trusted %s, and ignores forged headers', async (_how, trusted) => {
    const { server, front } = await startPair({ TRUST_PROXY: trusted });
    const ask = (path: string) => readReply(open(path, { headers: FORGED }, front).end());

    const asked = await ask('/api/asked');
    const told: Told = JSON.parse(asked.text);
    expect(told.ours).toMatchObject({ address: VISITOR, origin: ORIGIN, secure: true });
    expect(told.express).toEqual({ ip: VISITOR, protocol: 'https', hostname: HOST });
    expect(asked.headers['x-request-id']).toBe(told.headers['x-request-id']);
    expect(asked.headers['set-cookie']).toEqual(['__Host-asked=1; Path=/; HttpOnly; Secure']);
    expect(asked.headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains');
    const moved = await ask('/moved');
    expect([moved.status, moved.headers.location]).toEqual([302, `${ORIGIN}/late`]);
    const page = await ask('/late');
    expect(page.text).toContain(`<link rel="canonical" href="${ORIGIN}/late"`);

    for (const reply of [asked, moved, page]) {
      expect(JSON.stringify(reply.headers)).not.toMatch(FORGERY);
      expect(reply.text).not.toMatch(FORGERY);
    }
    await expect
      .poll(() => readLines(server).map(({ path, address }) => [path, address]))
      .toEqual([
        ['/api/asked', VISITOR],
        ['/moved', VISITOR],
        ['/late', VISITOR],
      ]);
    expect(server.log()).not.toMatch(FORGERY);
    expect(server.log()).not.toMatch(/TRUST_PROXY/);
  });

  it('ignores the name and secret headers of an authenticating proxy if a visitor sends them', async () => {
    const { server, front } = await startPair({ TRUST_PROXY: '127.0.0.1', ...AUTH_PROXY });
    // Even with the correct secret.
    const headers = { 'X-Forwarded-User': 'ada', 'X-Auth-Proxy-Secret': PROXY_SECRET };
    for (const path of ['/desk', '/desk/_data', '/desk/live']) {
      expect((await readReply(open(path, { headers }, front).end())).status, path).toBe(401);
      const { port } = new URL(server.url);
      const past = getOverHttp({ port, path, headers: { ...headers, Host: HOST }, localAddress: '127.0.0.1' });
      onTestFinished(() => void past.destroy());
      const [reply] = await once(past, 'response');
      expect(reply.statusCode, path).toBe(200);
    }
    expect((await readReply(open('/_data/desk', { headers }, front).end())).status).toBe(404);
  });

  it.skipIf(name !== 'nginx')('signs users that it authenticated in to the desk and nowhere else', async () => {
    const folder = createFolder(onTestFinished);
    chmodSync(folder, 0o755); // nginx reads the file as another user
    const file = join(folder, 'desk.htpasswd');
    writeFileSync(file, 'ada:{PLAIN}her password\n');
    const [site = ''] = /^ {2}location \/ \{\n.*?^ {2}\}\n/ms.exec(readExample(name)) ?? [];
    const kept = site.replace(/^.*(?:X-Forwarded-User|X-Auth-Proxy-Secret).*\n/gm, '');
    const added = readNginxParts()[0]?.replace('/etc/nginx/desk.htpasswd', file);
    const desk = kept.replace('location / {\n', `location /desk {\n${added}`);
    const { front } = await startPair({ TRUST_PROXY: '127.0.0.1', ...AUTH_PROXY }, { [site]: site + desk });
    const ask = (path: string, words: string, headers: Record<string, string> = {}) => {
      const Authorization = `Basic ${Buffer.from(words).toString('base64')}`;
      return readReply(open(path, { headers: { Authorization, ...headers } }, front).end());
    };
    for (const path of ['/desk', '/desk/_data', '/desk/7K3QM2XA', '/desk/_data/7K3QM2XA']) {
      const isThere = !path.endsWith('XA');
      expect((await ask(path, 'ada:her password')).status, path).toBe(isThere ? 200 : 404);
      for (const words of ['ada:another', 'eve:her password']) {
        const reply = await ask(path, words, { 'X-Forwarded-User': 'ada', 'X-Auth-Proxy-Secret': PROXY_SECRET });
        expect([reply.status, reply.headers['x-request-id']], path).toEqual([401, undefined]);
      }
    }
    const page = await ask('/desk', 'ada:her password', { 'X-Forwarded-User': 'eve' });
    expect(page.text).toContain('>ada<');
    expect(page.text).not.toContain('>eve<');
    // A name without a correct password.
    const told: Told = JSON.parse((await ask('/api/asked', 'ada:another')).text);
    expect(told.headers).not.toHaveProperty('x-forwarded-user');
  });

  it.skipIf(name !== 'nginx')('sends static pages from its cache, also without the server, and no others', async () => {
    const folder = createFolder(onTestFinished);
    chmodSync(folder, 0o777); // nginx writes to it as another user
    const [, cache = '', location = ''] = readNginxParts();
    const { server, front } = await startPair(
      { TRUST_PROXY: '127.0.0.1' },
      {
        'upstream spillway {\n': `${cache.replace('/var/cache/nginx', folder)}\nupstream spillway {\n`,
        'location / {\n': `location / {\n${location}`,
      },
    );
    const ask = async (path: string, options: RequestOptions = {}) => {
      const { status, headers } = await readReply(open(path, options, front).end());
      return [status, headers['content-encoding']];
    };
    const zipped = { headers: { 'Accept-Encoding': 'gzip' } };
    const asAll = async () => [await ask('/still'), await ask('/still', zipped), await ask('/_data/still')];
    const all = [
      [200, undefined],
      [200, 'gzip'],
      [200, undefined],
    ];
    expect(await asAll()).toEqual(all);
    expect(await ask('/')).toEqual([200, undefined]);
    await ask('/_data/', { method: 'HEAD' });
    await server.stop();
    expect(server.log()).toContain('"method":"HEAD"');
    expect(await asAll()).toEqual(all);
    expect((await ask('/'))[0]).toBe(502);
  });

  it('redirects HTTP to the same URL with HTTPS', async () => {
    const asked = getOverHttp({ host: '127.0.0.1', port: proxy.httpPort, path: '/late?a=b', headers: { Host: HOST } });
    const reply = await readReply(asked);
    expect([reply.status, reply.headers.location]).toEqual([308, `${ORIGIN}/late?a=b`]);
  });

  it.each([
    ['uncompressed', undefined],
    ['with gzip', 'gzip'],
    ['with br', 'br'],
  ])('forwards streamed responses without buffering, %s', async (_name, encoding) => {
    const headers: Record<string, string> = encoding ? { 'Accept-Encoding': encoding } : {};
    const page = await readReply(open('/late', { headers }).end());
    expect([page.status, page.headers['content-encoding']]).toEqual([200, encoding]);
    expect(page.text).toMatch(/<\/html>$/);
    const shell = page.chunks.find(({ text }) => text.includes('waiting'))?.at ?? 0;
    const late = page.chunks.find(({ text }) => text.includes('late is here'))?.at ?? 0;
    expect(late - shell).toBeGreaterThan(LATE / 2);

    const data = await readReply(open('/_data/late', { headers }).end());
    expect([data.status, data.headers['content-encoding']]).toEqual([200, encoding]);
    expect((data.chunks.at(-1)?.at ?? 0) - (data.chunks[0]?.at ?? 0)).toBeGreaterThan(LATE / 2);
  });

  it('lets an operator sign in, and keeps the stream of the desk open', async () => {
    const signIn = open('/desk', {
      method: 'POST',
      headers: { Origin: ORIGIN, 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    const signedIn = await readReply(signIn.end(`_action=root.signIn&token=${OPERATOR_TOKEN}`));
    const [cookie = ''] = signedIn.headers['set-cookie'] ?? [];
    expect([signedIn.status, cookie]).toEqual([303, expect.stringMatching(/^__Host-desk=.*; Secure$/)]);

    const asked = open('/desk/live', { headers: { Cookie: cookie.split(';')[0] ?? '' } });
    onTestFinished(() => void asked.destroy());
    asked.end();
    const [live] = await once(asked, 'response');
    expect([live.statusCode, live.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
    const [event] = await once(live, 'data');
    expect(String(event)).toMatch(/^event: changed\n/);
    expect(live.complete).toBe(false);
  });

  it('supports HTTP/2 for visitors, and tells them if a body is too large', async () => {
    const session = connect(`https://127.0.0.1:${proxy.httpsPort}`, { servername: HOST, ca: proxy.certificate });
    onTestFinished(() => session.destroy());
    const stream = session.request({ ':path': '/api/asked', ':authority': HOST, 'x-forwarded-for': '6.6.6.6' });
    const told: Told = JSON.parse(await text(stream));
    expect(told.ours).toMatchObject({ address: '127.0.0.1', origin: ORIGIN, secure: true });
    expect(told.express).toEqual({ ip: '127.0.0.1', protocol: 'https', hostname: HOST });

    const length = 3_000_000; // more than each of the examples lets pass
    const headers = { 'content-type': 'application/json', 'content-length': length };
    const large = session.request({ ':method': 'POST', ':path': '/api/echo', ':authority': HOST, ...headers });
    large.end(Buffer.alloc(length));
    expect((await once(large, 'response'))[0]).toMatchObject({ ':status': 413 });
    // Browsers show no response of a stream that was canceled.
    await once(large.resume(), 'close');
    expect(large.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
  });

  it('forwards WebSockets', async () => {
    const peer = new WebSocket(`wss://127.0.0.1:${proxy.httpsPort}/live`, {
      headers: { Host: HOST },
      origin: ORIGIN,
      agent: new Agent({ servername: HOST, ca: proxy.certificate, localAddress: VISITOR }),
    });
    onTestFinished(() => peer.terminate());
    await once(peer, 'open');
    peer.send('hello');
    const [answer] = await once(peer, 'message');
    expect(String(answer)).toBe(`${VISITOR} said hello`);
  });

  it('delivers the refusal of a body that the server did not read', async () => {
    const json = { 'Content-Type': 'application/json' };
    const form = { 'Content-Type': 'application/x-www-form-urlencoded', Origin: ORIGIN };
    const refused: [status: number, method: string, path: string, headers: Record<string, string>][] = [
      [413, 'POST', '/late', form],
      [413, 'POST', '/api/echo', json],
      [413, 'POST', '/_report', { Origin: ORIGIN }],
      [403, 'POST', '/late', { ...form, Origin: 'https://evil.example' }],
      [404, 'POST', '/api/none', json],
      [405, 'PUT', '/none', json],
      [415, 'POST', '/api/echo', form],
      // Caddy itself answers hosts that its file does not name.
      [name === 'caddy' ? 200 : 421, 'POST', '/api/echo', { ...json, Host: 'evil.example' }],
    ];
    const body = 'x'.repeat(1_500_000);
    const three = [...refused, ...refused, ...refused];
    const answers = three.map(async ([, method, path, headers]) => {
      const asked = open(path, { method, headers: { ...headers, 'Content-Length': String(body.length) } });
      return [(await readReply(asked.end(body))).status, method, path, headers];
    });
    expect(await Promise.all(answers)).toEqual(three);
  });
});

/** The lines of the access log so far. */
function readLines(server: RunningApp): Record<string, unknown>[] {
  return server
    .log()
    .split('\n')
    .filter((line) => line.includes('"msg":"request"'))
    .map((line) => JSON.parse(line));
}

it('keeps an idle connection for longer than most proxies', async () => {
  const server = await start({});
  onTestFinished(async () => void (await server.stop()));
  const agent = new PlainAgent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const reply = await readReply(getOverHttp(`${server.url}/`, { agent, headers: { Host: HOST } }));
  expect(reply.headers).toMatchObject({ 'keep-alive': 'timeout=72' });
});
