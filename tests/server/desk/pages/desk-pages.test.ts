import { pino } from 'pino';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { StoreAwayError } from '../../../../src/server/desk/store/sql.ts';
import { createFunnel } from '../../../../src/server/engine/errors/funnel.ts';
import { createOrigins } from '../../../../src/server/engine/protection/origins.ts';
import { Hour, Minute } from '../../../../src/shared/units.ts';
import { startDeskSite, toCookie } from '../../../support/desk-site.ts';
import { createTestPages } from '../../../support/pages-app.tsx';
import { ADA, VERA } from '../../../support/people.ts';
import { noScrubber } from '../../../support/unguarded.ts';

const signIn = (token: string) => ({ _action: 'root.signIn', token });
const signOut = { _action: 'root.signOut' };
const HEADING = 'Sign in to the desk';

describe('a visitor without a session', () => {
  it.each(['/desk', '/desk/', '/desk/7K3QM2XA', '/desk/no/such/page', '/desk?state=all'])(
    'gets 401 with the sign-in form instead of %s',
    async (path) => {
      const site = await startDeskSite();
      const reply = await site.get(path).redirects(1);
      expect(reply.status).toBe(401);
      expect(reply.text).toContain(HEADING);
      expect(reply.text).not.toContain('Sign out');
    },
  );

  it('gets no page data', async () => {
    const site = await startDeskSite();
    const reply = await site.get('/desk/_data');
    expect(reply.status).toBe(401);
    expect(JSON.parse(reply.text).d).toMatchObject({ data: { '@frame': null }, errors: { root: { status: 401 } } });
    expect((await request(site.app).head('/desk/_data')).status).toBe(401);
  });

  it('finds no desk data outside /desk, where a check in front of /desk would not protect it', async () => {
    const log = pino({ enabled: false });
    const made = {
      funnel: createFunnel({ scrubber: noScrubber, log, build: 'test' }),
      origins: createOrigins([], 'http://127.0.0.1'),
    };
    const pages = await createTestPages([{ id: 'home', path: '/', view: () => null }], made);
    const site = await startDeskSite({ deps: { pages } });
    const cookie = await site.enter();
    for (const path of ['/_data/desk', '/_data/desk/7K3QM2XA']) {
      const reply = await site.get(path, cookie);
      expect([reply.status, reply.text], path).toEqual([404, '{"notPage":true}']);
      expect((await request(site.alone).get(path).set('Cookie', cookie)).status, path).toBe(404);
    }
  });

  it.each([
    ['X-Original-URL', '/desk'],
    ['X-Rewrite-URL', '/desk'],
    ['X-HTTP-Method-Override', 'GET'],
    ['X-Forwarded-User', 'ada'],
    ['Authorization', `Bearer ${ADA.token}`],
    ['Cookie', `desk=${ADA.token}`],
  ])('is not let in by the header %s', async (name, value) => {
    const site = await startDeskSite();
    for (const path of ['/desk', '/desk/_data', '/desk/7K3QM2XA', '/%64esk', '/x/../desk']) {
      const reply = await request(site.app).get(path).set(name, value);
      expect([308, 400, 401, 404], path).toContain(reply.status);
      expect(reply.text, path).not.toContain('Sign out');
    }
    expect((await request(site.app).get('/').set(name, value)).text).not.toContain('Desk');
  });

  it('cannot run an action of any name', async () => {
    const site = await startDeskSite();
    for (const _action of ['home.default', 'root.default', 'root.guard', 'root.constructor', 'incident.resolve']) {
      const reply = await site.post('/desk', { _action });
      expect([401, 409], _action).toContain(reply.status);
      expect(reply.text).toContain(HEADING);
    }
  });
});

describe('signing in', () => {
  it('redirects back to the requested page, with a session that opens it', async () => {
    const site = await startDeskSite();
    const reply = await site.post('/desk?state=all&search=a%20b', signIn(ADA.token));
    expect(reply.status).toBe(303);
    expect(reply.headers.location).toBe('/desk?state=all&search=a+b');
    const page = await site.get('/desk', toCookie(reply.headers));
    expect(page.status).toBe(200);
    expect(page.text).toContain('Sign out');
    expect(page.text).toContain('>ada</span>');
  });

  it('answers scripts with data', async () => {
    const site = await startDeskSite();
    const posted = site
      .post('/desk?state=all', signIn(ADA.token))
      .set('Accept', 'application/vnd.spillway.action+ndjson');
    const reply = await posted;
    expect(reply.status).toBe(200);
    expect(JSON.parse(reply.text).d).toMatchObject({ redirect: '/desk?state=all' });
    expect(toCookie(reply.headers)).toMatch(/^desk=[\w-]{43}\.[\w-]{22}$/);
  });

  it.each(['', ' ', 'no-token', `${ADA.token}x`, ADA.token.slice(0, -1), ADA.token.toUpperCase(), `ada:${ADA.token}`])(
    'rejects %j on the same page, and sets no cookie',
    async (token) => {
      const site = await startDeskSite();
      const reply = await site.post('/desk?state=all', signIn(token));
      expect(reply.status).toBe(401);
      expect(reply.text).toContain('role="alert"');
      expect(reply.headers).not.toHaveProperty('set-cookie');
      if (token.trim() !== '') expect(reply.text).not.toContain(token);
    },
  );

  it('sets a cookie for twelve hours that scripts cannot read', async () => {
    const site = await startDeskSite();
    const reply = await site.post('/desk', signIn(ADA.token));
    expect(reply.headers['set-cookie']).toEqual([
      expect.stringMatching(/^desk=[\w-]{43}\.[\w-]{22}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/),
    ]);
  });

  it('binds the cookie to this host over TLS, and accepts no other cookie there', async () => {
    const publicOrigins = ['https://desk.example'];
    const site = await startDeskSite({ publicOrigins });
    const reply = await site.post('/desk', signIn(ADA.token)).set('Host', 'desk.example');
    expect(reply.headers['set-cookie']).toEqual([
      expect.stringMatching(
        /^__Host-desk=[\w-]{43}\.[\w-]{22}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax; Secure$/,
      ),
    ]);
    const cookie = toCookie(reply.headers);
    expect((await site.get('/desk', cookie).set('Host', 'desk.example')).status).toBe(200);
    const planted = cookie.replace('__Host-', '');
    expect((await site.get('/desk', planted).set('Host', 'desk.example')).status).toBe(401);
  });

  it('creates a new session each time, and ends the one that was sent', async () => {
    const site = await startDeskSite();
    const planted = `desk=${'A'.repeat(43)}`;
    const first = toCookie((await site.post('/desk', signIn(ADA.token), planted)).headers);
    expect(first).not.toBe(planted);
    expect((await site.get('/desk', planted)).status).toBe(401);
    const second = toCookie((await site.post('/desk', signIn(ADA.token), first)).headers);
    expect(second).not.toBe(first);
    expect((await site.get('/desk', first)).status).toBe(401);
    expect((await site.get('/desk', second)).status).toBe(200);
  });

  it('rejects a form of another site', async () => {
    const site = await startDeskSite();
    const cookie = await site.enter();
    for (const fields of [signIn(ADA.token), signOut]) {
      const reply = await site.post('/desk', fields, cookie).set('Sec-Fetch-Site', 'cross-site');
      expect(reply.status).toBe(403);
      expect(reply.headers).not.toHaveProperty('set-cookie');
    }
    expect((await site.get('/desk', cookie)).status).toBe(200);
  });

  it('rejects a form of another site even in front of an existing app', async () => {
    const site = await startDeskSite({ deps: { existingApp: { app: (_req, res) => void res.send('old') } } });
    const reply = await site.post('/desk', signIn(ADA.token)).set('Sec-Fetch-Site', 'cross-site');
    expect(reply.status).toBe(403);
  });

  it('logs no token and no ticket', async () => {
    const site = await startDeskSite();
    const ticket = await site.makeTicket('ada');
    await site.get(`/desk?ticket=${ticket}&token=${ADA.token}`);
    await site.post(`/desk?ticket=${ticket}`, { _action: 'root.signIn', ticket });
    await site.post(`/desk?token=${ADA.token}`, signIn(ADA.token));
    expect(site.lines.filter(({ path }) => path === '/desk')).toHaveLength(3);
    expect(JSON.stringify(site.lines)).not.toContain(ticket);
    expect(JSON.stringify(site.lines)).not.toContain(ADA.token);
  });
});

describe('sign-in attempts', () => {
  it('are limited per minute and address, with Retry-After', async () => {
    const site = await startDeskSite();
    const replies = [];
    for (let index = 0; index < 7; index++) replies.push(await site.post('/desk', signIn('wrong')));
    expect(replies.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429, 429]);
    const last = replies.at(-1);
    expect(Number(last?.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(last?.headers['retry-after'])).toBeLessThanOrEqual(60);
    expect(last?.text).toContain('Too many failed sign-ins');
    expect((await site.post('/desk', signIn(ADA.token))).status).toBe(429);
    await site.pass(Minute);
    expect((await site.post('/desk', signIn(ADA.token))).status).toBe(303);
  });

  it('have the same limit if they arrive simultaneously', async () => {
    const site = await startDeskSite();
    const replies = await Promise.all(Array.from({ length: 20 }, () => site.post('/desk', signIn('wrong'))));
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(5);
  });

  it('are counted by the address of the connection, not by X-Forwarded-For', async () => {
    const site = await startDeskSite();
    const statuses = [];
    for (let index = 0; index < 8; index++) {
      const reply = await site.post('/desk', signIn('wrong')).set('X-Forwarded-For', `203.0.113.${index}`);
      statuses.push(reply.status);
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
  });

  it.each([
    ['six /64 networks of one /48', (index: number) => `2001:db8:1:${index % 6}::${index}`],
    ['forty addresses', (index: number) => `203.0.113.${index}`],
  ])('from %s do not lock other senders out, by token, by header or by link', async (_who, toAddress) => {
    const site = await startDeskSite({ trustProxy: ['loopback'] });
    const from = (address: string, token: string) => site.post('/desk', signIn(token)).set('X-Forwarded-For', address);
    for (let index = 0; index < 40; index++)
      expect([401, 429]).toContain((await from(toAddress(index), 'wrong')).status);
    expect((await from('198.51.100.1', ADA.token)).status).toBe(303);
    const asked = site.get('/api/desk/incidents').set('Authorization', `Bearer ${VERA.token}`);
    expect((await asked.set('X-Forwarded-For', '2001:db8:2::1')).status).toBe(200);
    const ticket = await site.makeTicket('ada');
    const posted = site.post('/desk', { _action: 'root.signIn', ticket }).set('X-Forwarded-For', toAddress(1));
    expect((await posted).status).toBe(303);
  });

  it('beyond the limit of one address do not affect others', async () => {
    const site = await startDeskSite({ trustProxy: ['loopback'] });
    const from = (address: string, token: string) => site.post('/desk', signIn(token)).set('X-Forwarded-For', address);
    for (let index = 0; index < 40; index++) await from('203.0.113.1', 'wrong');
    expect((await from('203.0.113.1', ADA.token)).status).toBe(429);
    expect((await from('203.0.113.2', ADA.token)).status).toBe(303);
  });

  it('with a valid token do not count', async () => {
    const site = await startDeskSite();
    for (let index = 0; index < 8; index++) expect((await site.post('/desk', signIn(ADA.token))).status).toBe(303);
  });
});

describe('a sign-in link', () => {
  const use = (ticket: string) => ({ _action: 'root.signIn', ticket });

  it('shows a button, and signs in only when it is clicked', async () => {
    const site = await startDeskSite();
    const ticket = await site.makeTicket('ada');
    for (let index = 0; index < 2; index++) {
      const page = await site.get(`/desk?ticket=${ticket}`);
      expect(page.status).toBe(401);
      expect(page.text).toContain(`name="ticket" value="${ticket}"`);
      expect(page.headers).not.toHaveProperty('set-cookie');
    }
    const reply = await site.post(`/desk?ticket=${ticket}&state=all`, use(ticket));
    expect(reply.headers.location).toBe('/desk?state=all');
    expect((await site.get('/desk', toCookie(reply.headers))).status).toBe(200);
  });

  it('works once', async () => {
    const site = await startDeskSite();
    const ticket = await site.makeTicket('ada');
    const replies = await Promise.all([1, 2, 3].map(() => site.post('/desk', use(ticket))));
    expect(replies.map(({ status }) => status).sort()).toEqual([303, 401, 401]);
    expect(replies.find(({ status }) => status === 401)?.text).toContain('already used');
  });

  it('expires after fifteen minutes', async () => {
    const site = await startDeskSite();
    const ticket = await site.makeTicket('ada');
    await site.pass(15 * Minute);
    expect((await site.post('/desk', use(ticket))).status).toBe(401);
  });

  it('is not a session, and a session is not a link', async () => {
    const site = await startDeskSite();
    const ticket = await site.makeTicket('ada');
    expect((await site.get('/desk', `desk=${ticket}`)).status).toBe(401);
    const session = (await site.enter()).replace('desk=', '');
    expect((await site.post('/desk', use(session))).status).toBe(401);
  });

  it('is revoked with its token', async () => {
    const site = await startDeskSite();
    const ticket = await site.makeTicket('ada');
    const later = await site.restart([{ ...ADA, token: 'another-long-token-of-ada' }]);
    expect((await later.post('/desk', use(ticket))).status).toBe(401);
  });
});

describe('a session', () => {
  it('ends in the store when its holder signs out, so that the old cookie no longer works', async () => {
    const site = await startDeskSite();
    const cookie = await site.enter();
    const reply = await site.post('/desk', signOut, cookie);
    expect(reply.status).toBe(303);
    expect(reply.headers.location).toBe('/desk');
    expect(reply.headers['set-cookie']).toEqual(['desk=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax']);
    expect((await site.get('/desk', cookie)).status).toBe(401);
  });

  it('ends after twelve hours, however much it is used', async () => {
    const site = await startDeskSite();
    const cookie = await site.enter();
    await site.pass(12 * Hour - Minute);
    expect((await site.get('/desk', cookie)).status).toBe(200);
    await site.pass(Minute);
    expect((await site.get('/desk', cookie)).status).toBe(401);
  });

  it('ends when its token changes, is removed or loses rights, and survives other restarts', async () => {
    const site = await startDeskSite();
    const [ada, vera] = [await site.enter(), await site.enter(VERA.token)];
    const same = await site.restart([VERA, ADA]);
    expect((await same.get('/desk', ada)).status).toBe(200);
    const changed = await site.restart([{ ...ADA, token: 'another-long-token-of-ada' }, VERA]);
    expect((await changed.get('/desk', ada)).status).toBe(401);
    expect((await changed.get('/desk', vera)).status).toBe(200);
    const gone = await site.restart([ADA]);
    expect((await gone.get('/desk', vera)).status).toBe(401);
    const lowered = await site.restart([{ ...ADA, role: 'viewer' }]);
    expect((await lowered.get('/desk', ada)).status).toBe(401);
  });

  it.each([
    ['nothing', ''],
    ['a guess', 'B'.repeat(43)],
    ['SQL', "' OR 1=1 --"],
    ['too long a value', 'x'.repeat(4000)],
    ['a pattern', '%'],
  ])('cannot be made up: %s', async (_name, value) => {
    const site = await startDeskSite();
    await site.enter();
    expect((await site.get('/desk', `desk=${value}`)).status).toBe(401);
  });

  it('is stored as a hash that opens nothing', async () => {
    const kept: string[] = [];
    const { sessions } = await startDeskSite();
    const site = await startDeskSite({
      sessions: {
        createSession(idHash, grant, lifeMs) {
          kept.push(idHash, grant.fingerprint);
          return sessions.createSession(idHash, grant, lifeMs);
        },
        readSession: (...args) => sessions.readSession(...args),
        endSession: (...args) => sessions.endSession(...args),
        createLink: (...args) => sessions.createLink(...args),
        takeLink: (...args) => sessions.takeLink(...args),
        countAttempts: (...args) => sessions.countAttempts(...args),
      },
    });
    const cookie = await site.enter();
    expect((await site.get('/desk', cookie)).status).toBe(200);
    expect(kept).toHaveLength(2);
    for (const text of kept) {
      expect(cookie).not.toContain(text);
      expect(text).not.toContain(ADA.token);
      expect((await site.get('/desk', `desk=${text}`)).status).toBe(401);
    }
  });
});

describe('a viewer', () => {
  it('can read and sign out', async () => {
    const site = await startDeskSite();
    const cookie = await site.enter(VERA.token);
    expect((await site.get('/desk', cookie)).text).toContain('>vera</span>');
    expect((await site.post('/desk', signOut, cookie)).status).toBe(303);
  });
});

describe('behind an authenticating proxy', () => {
  const SECRET = 'a-secret-of-the-proxy';
  const proxied = {
    authProxyHeader: 'x-forwarded-user',
    authProxySecret: SECRET,
    authProxyOperators: ['ada@example.com'],
  };
  const named = (name: string, secret = SECRET) => ({ 'X-Forwarded-User': name, 'X-Auth-Proxy-Secret': secret });

  it('takes the name from the proxy and the rights from the setting', async () => {
    const site = await startDeskSite({ ...proxied, trustProxy: ['loopback'] });
    const reply = await site.get('/desk').set(named('ada@example.com'));
    expect(reply.status).toBe(200);
    expect(reply.text).toContain('title="Operator">ada@example.com<');
    expect(reply.text).not.toContain('Sign out');
    const other = await site.get('/desk').set(named('eve@example.com'));
    expect(other.text).toContain('Viewer (read-only)');
  });

  it('rejects unlisted addresses and headers without a valid name', async () => {
    const stranger = await startDeskSite({ ...proxied, trustProxy: ['192.0.2.1'] });
    expect((await stranger.get('/desk').set(named('ada@example.com'))).status).toBe(401);
    const site = await startDeskSite({ ...proxied, trustProxy: ['loopback'] });
    expect((await site.get('/desk').set(named(''))).status).toBe(401);
    expect((await site.get('/desk').set(named('<b>x</b>'))).status).toBe(401);
    expect((await site.get('/desk').set({ ...named(''), 'X-Other': 'ada@example.com' })).status).toBe(401);
  });

  it.each([
    ['no secret', { 'X-Forwarded-User': 'ada@example.com' }],
    ['a wrong secret', named('ada@example.com', 'another-secret-of-nobody')],
    ['part of the secret', named('ada@example.com', SECRET.slice(0, -1))],
    ['an empty secret', named('ada@example.com', '')],
  ])('does not accept a name with %s, for pages, data, live streams and changes', async (_what, headers) => {
    const site = await startDeskSite({ ...proxied, trustProxy: ['loopback'] });
    for (const app of [site.app, site.alone]) {
      for (const path of ['/desk', '/desk/_data', '/desk/7K3QM2XA', '/desk/_data/7K3QM2XA', '/desk/live']) {
        expect((await request(app).get(path).set(headers)).status, path).toBe(401);
      }
      const posted = request(app).post('/desk').set('Sec-Fetch-Site', 'same-origin').type('form').set(headers);
      expect((await posted.send({ _action: 'incidents.resolve', digest: '7K3QM2XA' })).status).toBe(401);
    }
    expect((await site.get('/desk/_data').set(named('ada@example.com'))).status).toBe(200);
  });

  it('still accepts a token', async () => {
    const site = await startDeskSite({ ...proxied, trustProxy: ['loopback'] });
    expect((await site.get('/desk', await site.enter())).status).toBe(200);
  });
});

describe('every response of the desk', () => {
  it('cannot be cached, indexed or read by other sites', async () => {
    const site = await startDeskSite();
    const cookie = await site.enter();
    const replies = [
      await site.get('/desk'),
      await site.get('/desk', cookie),
      await site.get('/desk/no/such/page', cookie),
      await site.get('/desk/_data', cookie),
      await site.get('/desk/_data/no/such/page', cookie),
      await site.post('/desk', signIn('wrong')),
      await request(site.app).put('/desk').set('Cookie', cookie),
    ];
    expect(replies.map(({ status }) => status)).toEqual([401, 200, 404, 200, 404, 401, 405]);
    for (const { headers } of replies) {
      expect(headers['cache-control']).toBe('no-store');
      expect(headers['x-robots-tag']).toBe('noindex, nofollow');
      expect(headers['referrer-policy']).toBe('same-origin');
    }
  });

  it('has a policy that blocks style attributes', async () => {
    const site = await startDeskSite();
    const { headers, text } = await site.get('/desk', await site.enter());
    expect(headers['content-security-policy']).not.toContain('unsafe-inline');
    expect(text).not.toMatch(/ style=/);
  });

  it('is sent before product steps run', async () => {
    const steps = [
      () => {
        throw new Error('the owner’s step is broken');
      },
    ];
    const site = await startDeskSite({ deps: { steps } });
    expect((await site.get('/')).status).toBe(500);
    expect((await site.get('/desk', await site.enter())).status).toBe(200);
  });

  it('is 503 while the store is unavailable, and the site still works', async () => {
    const away = async () => {
      throw new StoreAwayError('away');
    };
    const site = await startDeskSite({
      sessions: {
        createSession: away,
        readSession: away,
        endSession: away,
        createLink: away,
        takeLink: away,
        countAttempts: away,
      },
    });
    const cookie = await (await startDeskSite()).enter();
    for (const reply of [await site.get('/desk', cookie), await site.post('/desk', signIn(ADA.token))]) {
      expect(reply.status).toBe(503);
      expect(reply.text).toContain('store is unavailable');
    }
    expect((await site.get('/')).status).toBe(200);
    expect(site.lines.filter(({ msg }) => msg === 'A request failed.')).toEqual([]);
  });
});
