import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { startDeskSite, toCookie } from '../../support/desk-site.ts';
import { ADA } from '../../support/people.ts';

const signIn = { _action: 'root.signIn', token: ADA.token };

describe("the desk's separate listener", () => {
  it('serves the desk and health checks for every host, and nothing of the product', async () => {
    const { alone } = await startDeskSite();
    const ask = (path: string) => request(alone).get(path).set('Host', '10.0.0.7:3001');
    expect((await ask('/desk')).status).toBe(401);
    expect((await ask('/livez')).status).toBe(200);
    expect((await ask('/readyz')).status).toBe(200);
    expect((await ask('/')).headers.location).toBe('/desk');
    for (const path of ['/admin', '/orders', '/api/echo', '/_data/orders', '/_data']) {
      const reply = await ask(path);
      expect(reply.status, path).toBe(404);
      expect(reply.headers, path).toHaveProperty('content-security-policy');
    }
    expect((await ask('//desk')).status).toBe(400);
    expect((await ask('/desk').set('Host', 'a b')).status).toBe(400);
  });

  it('accepts a form only if its origin matches the host', async () => {
    const { alone } = await startDeskSite({ publicOrigins: ['https://example.com'] });
    const post = (origin: string) =>
      request(alone).post('/desk').set('Host', 'desk.internal:3001').set('Origin', origin).type('form').send(signIn);
    expect((await post('http://desk.internal:3001')).status).toBe(303);
    for (const origin of ['https://example.com', 'http://desk.internal', 'http://evil.example', 'null']) {
      expect((await post(origin)).status, origin).toBe(403);
    }
  });

  it('shows the desk to an operator who signed in there', async () => {
    const { alone } = await startDeskSite();
    const { headers } = await request(alone).post('/desk').type('form').send(signIn);
    const reply = await request(alone).get('/desk').set('Cookie', toCookie(headers));
    expect(reply.status).toBe(200);
    expect(reply.text).toContain('Sign out');
  });
});
