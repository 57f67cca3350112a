import { randomBytes } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import { StoreAwayError } from '../../../../src/desk/server/store/sql.ts';
import { requestInfo } from '../../../../src/server/request/request-info.ts';
import { createFakePages } from '../../../support/app.ts';
import { startDeskSite } from '../../support/desk-site.ts';

/** Pages of the site that show what it knows about the visitor. */
async function start() {
  const { store } = await startDeskSite();
  const hasSession = vi.fn(store.sessions.hasSession);
  const endSession = vi.fn(store.sessions.endSession);
  const pages = createFakePages({
    pages: (req, res) => {
      const { isSignedIn, showsTimings } = requestInfo(req);
      res.type('text').send(`${isSignedIn ? 'operator' : 'visitor'}${showsTimings ? ' with timings' : ''}`);
    },
  });
  const calls = { storeSession: store.sessions.storeSession, hasSession, endSession };
  const site = await startDeskSite({ calls, deps: { pages } });
  const cookie = await site.enter();
  const look = async (sent?: string) => (await site.get('/', sent)).text;
  return { ...site, hasSession, endSession, cookie, look };
}

it('a visitor of the site is an operator while their session lasts', async () => {
  const { look, cookie } = await start();
  const seen = [await look(), await look('theme=dark'), await look(cookie)];
  expect(seen).toEqual(['visitor', 'visitor', 'operator with timings']);
});

it.each([
  ['away', () => Promise.reject(new StoreAwayError('away'))],
  ['hung', () => new Promise<never>(() => {})],
])('a visitor is not an operator while the store is %s', async (_how, answer) => {
  const { look, cookie, hasSession } = await start();
  hasSession.mockImplementation(answer);
  expect(await look(cookie)).toBe('visitor with timings');
  expect(hasSession).toHaveBeenCalledTimes(1);
});

it('the store is not asked about cookies and links that the desk did not issue', async () => {
  const { get, post, hasSession, endSession, cookie } = await start();
  const secret = () => randomBytes(32).toString('base64url');
  for (const guess of [secret(), `${secret()}.${secret().slice(0, 22)}`, cookie.replace(/^desk=.{43}/, secret())]) {
    await get('/', `desk=${guess}`);
    expect((await get('/desk', `desk=${guess}`)).status).toBe(401);
    await post('/desk', { _action: 'root.signIn', ticket: guess });
  }
  expect(hasSession).not.toHaveBeenCalled();
  expect(endSession).not.toHaveBeenCalled();
});
