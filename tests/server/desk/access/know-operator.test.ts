import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { SessionStore } from '../../../../src/server/desk/access/session-store.ts';
import { StoreAwayError } from '../../../../src/server/desk/store/sql.ts';
import { requestInfo } from '../../../../src/server/engine/request/request-info.ts';
import { Second } from '../../../../src/shared/units.ts';
import { createFakePages } from '../../../support/app.ts';
import { startDeskSite } from '../../../support/desk-site.ts';

/** Pages that show what the site knows about the visitor, and a list of all calls to the store. */
async function start(readSession?: () => Promise<never>) {
  const asked: string[] = [];
  const { store } = await startDeskSite();
  let answer: typeof readSession;
  const sessions = new Proxy(store, {
    get(of, name) {
      const method = Reflect.get(of, name).bind(of);
      return (...args: never[]) => {
        asked.push(String(name));
        return name === 'readSession' && answer ? answer() : method(...args);
      };
    },
  }) as SessionStore;
  const pages = createFakePages({
    pages: (req, res) => {
      const { isOperator, showsTimings } = requestInfo(req);
      res.type('text').send(`${isOperator ? 'operator' : 'visitor'}${showsTimings ? ' with timings' : ''}`);
    },
  });
  const site = await startDeskSite({ sessions, deps: { pages } });
  const cookie = await site.enter();
  asked.length = 0;
  answer = readSession;
  const look = async (cookie?: string) => (await site.get('/', cookie)).text;
  return { ...site, asked, cookie, look, away: () => (answer = readAway) };
}

const readAway = async () => {
  throw new StoreAwayError('away');
};
const OPERATOR = 'operator with timings';
const signOut = { _action: 'root.signOut' };

describe('a site visitor', () => {
  it('is an operator while their session lasts', async () => {
    const { look, post, cookie } = await start();
    expect(await look()).toBe('visitor');
    expect(await look('theme=dark')).toBe('visitor');
    expect(await look(cookie)).toBe(OPERATOR);
    await post('/desk', signOut, cookie);
    // The desk issued this id, so it still unlocks the timings.
    expect(await look(cookie)).toBe('visitor with timings');
  });

  it.each([
    ['away', readAway],
    ['hung', () => new Promise<never>(() => {})],
  ])('is not an operator while the store is %s', async (_how, readSession) => {
    const { look, cookie, asked } = await start(readSession);
    const startedAt = performance.now();
    expect(await look(cookie)).toBe('visitor with timings');
    expect(performance.now() - startedAt).toBeLessThan(1500);
    expect(asked).toEqual(['readSession']);
  });
});

describe('the store', () => {
  it('is not asked about cookies and links that the desk did not issue', async () => {
    const { get, post, asked, cookie } = await start();
    const secret = () => randomBytes(32).toString('base64url');
    const guesses = Array.from({ length: 50 }, () => [secret(), `${secret()}.${secret().slice(0, 22)}`]).flat();
    for (const guess of [...guesses, cookie.replace(/^desk=.{43}/, secret())]) {
      await get('/', `desk=${guess}`);
      expect((await get('/desk', `desk=${guess}`)).status).toBe(401);
    }
    for (const ticket of guesses.slice(0, 10)) await post('/desk', { _action: 'root.signIn', ticket });
    await post('/desk', signOut, `desk=${secret()}`);
    expect(asked).toEqual([]);
  });

  it('is asked at most once in two seconds for reads, and before and after each change', async () => {
    const { get, post, asked, cookie, pass } = await start();
    await Promise.all(['/', '/', '/desk', '/desk/_data'].map((path) => get(path, cookie)));
    await get('/desk', cookie);
    expect(asked).toEqual(['readSession']);
    await post('/desk', { _action: 'incidents.resolve', digest: '7K3QM2XA' }, cookie);
    expect(asked).toEqual(['readSession', 'readSession', 'readSession']);
    await pass(2 * Second);
    await get('/', cookie);
    expect(asked).toHaveLength(4);
  });

  it('is asked again after a sign-out and after an outage', async () => {
    const { get, post, look, asked, cookie } = await start();
    expect(await look(cookie)).toBe(OPERATOR);
    await post('/desk', signOut, cookie);
    expect((await get('/desk', cookie)).status).toBe(401);
    expect(asked.filter((name) => name === 'readSession')).toHaveLength(3);

    const other = await start();
    other.away();
    expect((await other.get('/desk', other.cookie)).status).toBe(503);
    expect((await other.get('/desk', other.cookie)).status).toBe(503);
    expect(other.asked).toHaveLength(2);
  });
});
