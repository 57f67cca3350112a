import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { StoreAwayError } from '../../../../src/desk/server/store/sql.ts';
import { Hour, Minute } from '../../../../src/shared/units.ts';
import { ADA, VERA } from '../../../support/people.ts';
import { startDeskSite, toCookie } from '../../support/desk-site.ts';

const signIn = (token: string) => ({ _action: 'root.signIn', token });
const use = (ticket: string) => ({ _action: 'root.signIn', ticket });
const ID = '[\\w-]{43}\\.[\\w-]{22}';
const OTHER_TOKEN = { ...ADA, token: 'another-long-token-of-ada' };

describe('a stranger', () => {
  it('gets the sign-in form instead of every page and its data, and no action', async () => {
    const { get, post } = await startDeskSite();
    for (const path of ['/desk', '/desk/7K3QM2XA', '/desk/no/such/page', '/desk/notifications', '/desk?state=all']) {
      const { status, text, headers } = await get(path);
      expect([status, text.includes('Sign in to the desk'), text.includes('Sign out')]).toEqual([401, true, false]);
      expect(headers['x-robots-tag']).toBe('noindex, nofollow');
    }
    const data = await get('/desk/_data');
    expect(JSON.parse(data.text).d).toMatchObject({ data: { '@frame': null }, errors: { root: { status: 401 } } });
    for (const _action of ['root.guard', 'root.constructor']) {
      expect([401, 409], _action).toContain((await post('/desk', { _action })).status);
    }
  });

  it.each([
    ['X-Forwarded-User', 'ada'],
    ['Authorization', `Bearer ${ADA.token}`],
    ['Cookie', 'desk='],
    ['Cookie', `desk=${ADA.token}`],
    ['Cookie', `desk=${'B'.repeat(43)}`],
  ])('is not let in by %s: %s', async (name = '', value = '') => {
    const { app } = await startDeskSite();
    for (const path of ['/desk', '/desk/_data', '/desk/7K3QM2XA', '/%64esk', '/x/../desk']) {
      const reply = await request(app).get(path).set(name, value);
      expect([308, 400, 401, 404], path).toContain(reply.status);
      expect(reply.text, path).not.toContain('Sign out');
    }
  });
});

describe('signing in', () => {
  it('leads back to the page, with a cookie for twelve hours that scripts cannot read', async () => {
    const { get, post } = await startDeskSite();
    const { status, headers } = await post('/desk?state=all&search=a%20b', signIn(ADA.token));
    expect([status, headers.location]).toEqual([303, '/desk?state=all&search=a+b']);
    const attributes = 'Path=/; Max-Age=43200; HttpOnly; SameSite=Lax';
    expect(headers['set-cookie']).toEqual([expect.stringMatching(new RegExp(`^desk=${ID}; ${attributes}$`))]);
    const page = await get('/desk', toCookie(headers));
    expect(page.text).toContain('>ada</span>');
    const viewer = (await post('/desk', signIn(VERA.token))).headers;
    expect((await get('/desk', toCookie(viewer))).text).toContain('Viewer (read-only)');
  });

  it.each(['', `${ADA.token}x`, ADA.token.slice(0, -1), `ada:${ADA.token}`])(
    'rejects the token %j on the same page',
    async (token) => {
      const { post } = await startDeskSite();
      const { status, text, headers } = await post('/desk?state=all', signIn(token));
      expect([status, text.includes('role="alert"')]).toEqual([401, true]);
      expect(headers).not.toHaveProperty('set-cookie');
      if (token !== '') expect(text).not.toContain(token);
    },
  );

  it('binds the cookie to this host over TLS, and accepts no other there', async () => {
    const { get, post } = await startDeskSite({ publicOrigins: ['https://desk.example'] });
    const { headers } = await post('/desk', signIn(ADA.token)).set('Host', 'desk.example');
    expect(headers['set-cookie']).toEqual([expect.stringMatching(new RegExp(`^__Host-desk=${ID}; .*; Secure$`))]);
    const cookie = toCookie(headers);
    const statusOf = async (sent: string) => (await get('/desk', sent).set('Host', 'desk.example')).status;
    expect(await statusOf(cookie)).toBe(200);
    expect(await statusOf(cookie.replace('__Host-', ''))).toBe(401);
  });

  it('is limited per address of the connection, together with the API', async () => {
    const { get, post, pass } = await startDeskSite();
    const ask = (token: string) => get('/api/desk/incidents').set('Authorization', `Bearer ${token}`);
    for (let index = 0; index < 3; index += 1) expect((await ask('wrong')).status).toBe(401);
    for (const from of ['203.0.113.1', '203.0.113.2']) {
      expect((await post('/desk', signIn('wrong')).set('X-Forwarded-For', from)).status).toBe(401);
    }
    for (const reply of [await post('/desk', signIn(ADA.token)), await ask(ADA.token), await ask('wrong')]) {
      expect(reply.status).toBe(429);
      expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
    }
    await pass(Minute);
    expect((await post('/desk', signIn(ADA.token))).status).toBe(303);
    expect((await ask(ADA.token)).status).toBe(200);
  });

  it('leaves no token and no ticket in the log', async () => {
    const { get, post, makeTicket, lines } = await startDeskSite();
    const ticket = await makeTicket('ada');
    await get(`/desk?ticket=${ticket}&token=${ADA.token}`);
    await post(`/desk?ticket=${ticket}`, use(ticket));
    await post(`/desk?token=${ADA.token}`, signIn(ADA.token));
    await get(`/api/desk/incidents?token=${ADA.token}`).set('Authorization', `Bearer ${VERA.token}`);
    expect(lines.filter(({ path }) => /desk/.test(String(path)))).toHaveLength(4);
    for (const secret of [ticket, ADA.token, VERA.token]) expect(JSON.stringify(lines)).not.toContain(secret);
  });
});

describe('a sign-in link', () => {
  it('shows a button, and signs in once, when that is clicked', async () => {
    const { get, post, makeTicket } = await startDeskSite();
    const ticket = await makeTicket('ada');
    for (let index = 0; index < 2; index += 1) {
      const page = await get(`/desk?ticket=${ticket}`);
      expect([page.status, page.headers['set-cookie']]).toEqual([401, undefined]);
      expect(page.text).toContain(`name="ticket" value="${ticket}"`);
    }
    const replies = await Promise.all([1, 2, 3].map(() => post(`/desk?ticket=${ticket}&state=all`, use(ticket))));
    expect(replies.map(({ status }) => status).sort()).toEqual([303, 401, 401]);
    const entered = replies.find(({ status }) => status === 303);
    expect(entered?.headers.location).toBe('/desk?state=all');
    expect((await get('/desk', toCookie(entered?.headers ?? {}))).status).toBe(200);
    expect(replies.find(({ status }) => status === 401)?.text).toContain('already used');
  });

  it('of a start signs in at the first GET, not by the HEAD of a preview', async () => {
    const { app, makeTicket } = await startDeskSite();
    const path = `/desk/start?ticket=${await makeTicket('ada')}`;
    expect((await request(app).head(path)).headers).not.toHaveProperty('set-cookie');
    expect((await request(app).get('/desk/start')).headers.location).toBe('/desk');
    const { status, headers } = await request(app).get(path);
    expect([status, headers.location, headers['set-cookie']?.length]).toEqual([303, '/', 1]);
  });

  it('expires after fifteen minutes and with its token, and is no session', async () => {
    const site = await startDeskSite();
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => site.makeTicket('ada')));
    expect((await site.get('/desk', `desk=${first}`)).status).toBe(401);
    expect((await site.post('/desk', use((await site.enter()).replace('desk=', '')))).status).toBe(401);
    const changed = await site.restart([OTHER_TOKEN]);
    expect((await changed.post('/desk', use(second ?? ''))).status).toBe(401);
    await site.pass(15 * Minute);
    expect((await site.post('/desk', use(third ?? ''))).status).toBe(401);
  });
});

describe('a session', () => {
  it('is new at each sign-in, which ends the one that was sent', async () => {
    const { get, post } = await startDeskSite();
    const planted = `desk=${'A'.repeat(43)}`;
    const first = toCookie((await post('/desk', signIn(ADA.token), planted)).headers);
    const second = toCookie((await post('/desk', signIn(ADA.token), first)).headers);
    const statuses = await Promise.all([planted, first, second].map(async (one) => (await get('/desk', one)).status));
    expect(statuses).toEqual([401, 401, 200]);
  });

  it('ends after twelve hours, however much it is used', async () => {
    const { get, pass, enter } = await startDeskSite();
    const cookie = await enter();
    await pass(12 * Hour - Minute);
    expect((await get('/desk', cookie)).status).toBe(200);
    await pass(Minute);
    expect((await get('/desk', cookie)).status).toBe(401);
  });

  it.each([
    ['survives another order of tokens', [VERA, ADA], 200, 200],
    ['ends when its token changes', [OTHER_TOKEN, VERA], 401, 200],
    ['ends when its token is removed', [ADA], 200, 401],
    ['ends when its token gets another role', [{ ...ADA, role: 'viewer' } as const], 401, 401],
    ['ends when its token gets another name', [{ ...ADA, name: 'grace' }, VERA], 401, 200],
  ])('%s', async (_what, tokens, ofAda, ofVera) => {
    const site = await startDeskSite();
    const cookies = [await site.enter(), await site.enter(VERA.token)];
    const later = await site.restart(tokens);
    const statuses = await Promise.all(cookies.map(async (cookie) => (await later.get('/desk', cookie)).status));
    expect(statuses).toEqual([ofAda, ofVera]);
  });

  it('is stored as a hash that opens nothing', async () => {
    const stored: string[] = [];
    const { store } = await startDeskSite();
    const { get, enter } = await startDeskSite({
      calls: {
        hasSession: store.sessions.hasSession,
        storeSession(hash, lifeMs) {
          stored.push(hash);
          return store.sessions.storeSession(hash, lifeMs);
        },
      },
    });
    const cookie = await enter();
    expect((await get('/desk', cookie)).status).toBe(200);
    const [hash = ''] = stored;
    expect(stored).toEqual([expect.stringMatching(/^[\w-]{43}$/)]);
    expect(cookie).not.toContain(hash);
    expect((await get('/desk', `desk=${hash}`)).status).toBe(401);
  });
});

describe('behind an authenticating proxy', () => {
  const SECRET = 'a-secret-of-the-proxy';
  const proxied = {
    proxy: { header: 'x-forwarded-user', secret: SECRET, operators: ['ada@example.com'] },
    trustProxy: ['loopback'],
  };
  const named = (name: string, secret = SECRET) => ({ 'X-Forwarded-User': name, 'X-Auth-Proxy-Secret': secret });

  it('the proxy names the person and the setting grants the rights; a token still works', async () => {
    const { get, enter } = await startDeskSite(proxied);
    const ada = (await get('/desk').set(named('ada@example.com'))).text;
    expect(ada).toContain('title="Operator">ada@example.com<');
    expect(ada).not.toContain('Sign out');
    expect((await get('/desk').set(named('eve@example.com'))).text).toContain('Viewer (read-only)');
    expect((await get('/desk', await enter())).status).toBe(200);
  });

  it.each([
    ['no secret', { 'X-Forwarded-User': 'ada@example.com' }],
    ['a wrong secret', named('ada@example.com', 'another-secret-of-nobody')],
    ['part of the secret', named('ada@example.com', SECRET.slice(0, -1))],
    ['an empty name', named('')],
    ['markup for a name', named('<b>x</b>')],
    ['the address of nobody’s proxy', named('ada@example.com'), ['192.0.2.1']],
  ])('a name with %s opens nothing', async (_what, headers, trustProxy = ['loopback']) => {
    const site = await startDeskSite({ ...proxied, trustProxy });
    for (const app of [site.app, site.alone]) {
      for (const path of ['/desk', '/desk/_data', '/desk/live']) {
        expect((await request(app).get(path).set(headers)).status, path).toBe(401);
      }
      const posted = request(app).post('/desk').set('Sec-Fetch-Site', 'same-origin').type('form').set(headers);
      expect((await posted.send({ _action: 'incidents.resolve', digest: '7K3QM2XA' })).status).toBe(401);
    }
  });
});

describe('every response of the desk', () => {
  it('is sent before product steps run', async () => {
    const fail = () => {
      throw new Error('the product’s step is broken');
    };
    const { get, enter } = await startDeskSite({ deps: { steps: [fail] } });
    expect((await get('/')).status).toBe(500);
    expect((await get('/desk', await enter())).status).toBe(200);
    expect((await get('/api/desk/incidents').set('Authorization', `Bearer ${ADA.token}`)).status).toBe(200);
  });

  it('is 503 while the store is unavailable, and the site still works', async () => {
    const away = () => Promise.reject(new StoreAwayError('connect ECONNREFUSED 10.0.0.7'));
    const { get, post, lines } = await startDeskSite({ calls: { hasSession: away, storeSession: away } });
    const cookie = await (await startDeskSite()).enter();
    for (const reply of [await get('/desk', cookie), await post('/desk', signIn(ADA.token))]) {
      expect([reply.status, reply.text.includes('store is unavailable')]).toEqual([503, true]);
      expect(reply.text).not.toContain('10.0.0.7');
    }
    expect((await get('/')).status).toBe(200);
    expect(lines.filter(({ msg }) => msg === 'A request failed.')).toEqual([]);
  });
});

describe('the separate listener', () => {
  it('serves the desk, its API and health checks for every host, and nothing of the product', async () => {
    const { alone } = await startDeskSite();
    const ask = (path: string) => request(alone).get(path).set('Host', '10.0.0.7:3001');
    const cases = {
      '/desk': 401,
      '/livez': 200,
      '/readyz': 200,
      '/api/desk/openapi.json': 200,
      '/': 302,
      '//desk': 400,
    };
    for (const [path, status] of Object.entries(cases)) expect((await ask(path)).status, path).toBe(status);
    expect((await ask('/api/desk/incidents').set('Authorization', `Bearer ${ADA.token}`)).status).toBe(200);
    for (const path of ['/orders', '/api/echo', '/_data/orders']) expect((await ask(path)).status, path).toBe(404);
    expect((await ask('/desk').set('Host', 'a b')).status).toBe(400);
  });

  it('accepts a form only if its origin matches the host', async () => {
    const { alone } = await startDeskSite({ publicOrigins: ['https://example.com'] });
    const post = (origin: string) =>
      request(alone)
        .post('/desk')
        .set({ Host: 'desk.internal:3001', Origin: origin })
        .type('form')
        .send(signIn(ADA.token));
    const entered = await post('http://desk.internal:3001');
    expect((await request(alone).get('/desk').set('Cookie', toCookie(entered.headers))).text).toContain('Sign out');
    for (const origin of ['https://example.com', 'http://desk.internal', 'http://evil.example', 'null']) {
      expect((await post(origin)).status, origin).toBe(403);
    }
  });
});
