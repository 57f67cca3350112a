import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { Minute } from '../../../../src/shared/units.ts';
import { startDeskSite } from '../../../support/desk-site.ts';
import { ADA, VERA } from '../../../support/people.ts';
import { ingest, fullOf } from '../../../support/stores.ts';

const LIST = '/api/desk/incidents';
const ONE = '/api/desk/incidents/7K3QM2XA';
const bearer = (token: string) => `Bearer ${token}`;

async function start(options: Parameters<typeof startDeskSite>[0] = {}) {
  const site = await startDeskSite(options);
  await ingest(site.store, fullOf({ digest: '7K3QM2XA' }));
  const get = (authorization: string, path = LIST) => request(site.app).get(path).set('Authorization', authorization);
  return { ...site, get };
}

describe('the caller', () => {
  it.each([
    ['Authorization', `Basic ${Buffer.from(`ada:${ADA.token}`).toString('base64')}`],
    ['Authorization', 'Bearer'],
    ['Authorization', ADA.token],
    ['Authorization', `Bearer ${ADA.token} ${ADA.token}`],
    ['X-Forwarded-User', 'ada'],
    ['X-Api-Key', ADA.token],
  ])('is not authenticated by %s: %s', async (name, value) => {
    const { app } = await start();
    const reply = await request(app).get(LIST).set(name, value);
    expect(reply.status).toBe(401);
    expect(reply.headers['www-authenticate']).toBe('Bearer realm="desk"');
    expect(reply.headers['content-type']).toMatch('application/problem+json');
    expect(reply.headers['cache-control']).toBe('no-store');
  });

  it('is not authenticated by a session, by a token in the URL or by the header of a proxy', async () => {
    const proxied = { authProxyHeader: 'x-user', authProxySecret: 'a-secret-of-the-proxy' };
    const site = await start({ ...proxied, authProxyOperators: ['*'], trustProxy: ['loopback'] });
    const named = { 'X-User': 'eve', 'X-Auth-Proxy-Secret': proxied.authProxySecret };
    const cookie = await site.enter();
    expect((await site.get('', '/desk').set(named)).status).toBe(200);
    for (const path of [LIST, `${LIST}?access_token=${ADA.token}`]) {
      const reply = await request(site.app).get(path).set('Cookie', cookie).set(named);
      expect(reply.status, path).toBe(401);
    }
  });

  it('is authenticated by the scheme in any case, and recorded as the author of changes', async () => {
    const { app, store, get } = await start();
    expect((await get(`bearer ${ADA.token}`)).status).toBe(200);
    await request(app).patch(ONE).set('Authorization', bearer(ADA.token)).send({ assignee: 'x' });
    expect(await store.listChanges('7K3QM2XA', 1)).toMatchObject([{ author: 'ada' }]);
  });

  it('can read but not change anything with a viewer token', async () => {
    const { app, get, store } = await start();
    expect((await get(bearer(VERA.token))).status).toBe(200);
    const reply = await request(app).patch(ONE).set('Authorization', bearer(VERA.token)).send({ assignee: 'x' });
    expect(reply.status).toBe(403);
    expect(reply.body.detail).toContain('read-only');
    expect(reply.headers['www-authenticate']).toContain('error="insufficient_scope"');
    expect(await store.listChanges('7K3QM2XA', 1)).toEqual([]);
  });

  it('cannot find out which paths exist without a token', async () => {
    const { app } = await start();
    for (const path of [LIST, ONE, '/api/desk', '/api/desk/nothing', '/API/DESK/incidents']) {
      expect((await request(app).get(path)).status, path).toBe(401);
    }
    expect((await request(app).get('/api/desk/openapi.json')).status).toBe(200);
    expect((await request(app).get('/api/desk/docs')).text).toContain('Desk · API reference');
  });
});

describe('a request', () => {
  it('with a wrong method or path gets the right ones', async () => {
    const { app, get } = await start();
    const wrong = await request(app).put(LIST).set('Authorization', bearer(ADA.token)).send({});
    expect(wrong.status).toBe(405);
    expect(wrong.headers.allow).toBe('GET, HEAD, OPTIONS');
    expect((await get(bearer(ADA.token), '/api/desk/nothing')).status).toBe(404);
    expect((await get(bearer(ADA.token), '/api/desk')).status).toBe(404);
  });

  it('from another site can neither change nor read anything', async () => {
    const { app, get } = await start();
    const evil = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' };
    const changed = await request(app)
      .patch(ONE)
      .set('Authorization', bearer(ADA.token))
      .set(evil)
      .send({ assignee: 'x' });
    expect(changed.status).toBe(403);
    const read = await get(bearer(ADA.token)).set(evil);
    expect(Object.keys(read.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    const preflight = await request(app).options(LIST).set(evil).set('Access-Control-Request-Method', 'GET');
    expect(preflight.status).toBe(401);
    expect(read.headers['cross-origin-resource-policy']).toBe('same-origin');
  });

  it("is also answered on the desk's separate listener", async () => {
    const { alone } = await start();
    const ask = (path: string) => request(alone).get(path).set('Host', '10.0.0.7:3001');
    expect((await ask(LIST)).status).toBe(401);
    expect((await ask(LIST).set('Authorization', bearer(ADA.token))).status).toBe(200);
    expect((await ask('/api/desk/openapi.json')).status).toBe(200);
  });

  it('is answered before product steps run', async () => {
    const { get } = await start({ deps: { steps: [(_req, res) => void res.status(418).end()] } });
    expect((await get(bearer(ADA.token))).status).toBe(200);
  });

  it('gets a compressed response only if its ETag stays valid', async () => {
    const { get } = await start({ deps: { compression: true } });
    const list = await get(bearer(ADA.token), '/api/desk/openapi.json').set('Accept-Encoding', 'gzip');
    expect(list.headers['content-encoding']).toBe('gzip');
    const one = await get(bearer(ADA.token), ONE).set('Accept-Encoding', 'gzip');
    expect(one.headers.etag).toMatch(/^"/);
    expect(one.headers).not.toHaveProperty('content-encoding');
  });
});

describe('wrong tokens', () => {
  it('share a limit per address and minute with the sign-in page', async () => {
    const { get, post, pass } = await start();
    for (let index = 0; index < 3; index++) expect((await get(bearer('wrong'))).status).toBe(401);
    for (let index = 0; index < 2; index++) {
      expect((await post('/desk', { _action: 'root.signIn', token: 'wrong' })).status).toBe(401);
    }
    expect((await post('/desk', { _action: 'root.signIn', token: ADA.token })).status).toBe(429);
    expect((await get(bearer('wrong'))).status).toBe(429);
    const reply = await get(bearer(ADA.token));
    expect(reply.status).toBe(429);
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
    await pass(Minute);
    expect((await get(bearer(ADA.token))).status).toBe(200);
  });

  it('do not appear in the log, nor does any other secret part of a request', async () => {
    const { get, lines, store } = await start();
    await get(bearer('a-wrong-token-that-is-long'), `${LIST}?token=${ADA.token}`);
    Object.assign(store, { listIncidents: () => Promise.reject(new Error(`It broke for ${ADA.token}.`)) });
    Object.assign(store, { readChanges: async () => 1 });
    await get(bearer(VERA.token));
    expect(lines.filter(({ path }) => path === LIST)).toHaveLength(2);
    const text = JSON.stringify(lines);
    expect(text).not.toContain('a-wrong-token');
    expect(text).not.toContain(VERA.token);
  });
});
