import { createHmac, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { createSessionCache } from '../../../../src/server/desk/access/session-cache.ts';
import { createSignedIds } from '../../../../src/server/desk/access/signed-ids.ts';
import { MAX_CACHED_SESSIONS } from '../../../../src/server/desk/limits.ts';
import { StoreAwayError } from '../../../../src/server/desk/store/sql.ts';
import { requestInfo } from '../../../../src/server/engine/request/request-info.ts';
import { Second } from '../../../../src/shared/units.ts';
import { createFakePages } from '../../../support/app.ts';
import { startDeskSite } from '../../../support/desk-site.ts';
import { ADA, VERA } from '../../../support/people.ts';

/** Pages of the site that show what it knows about the visitor. */
async function start() {
  const { store } = await startDeskSite();
  const readSession = vi.fn(store.readSession);
  const others = vi.fn(async () => undefined);
  const pages = createFakePages({
    pages: (req, res) => {
      const { isOperator, showsTimings } = requestInfo(req);
      res.type('text').send(`${isOperator ? 'operator' : 'visitor'}${showsTimings ? ' with timings' : ''}`);
    },
  });
  const { createSession } = store;
  const calls = { createSession, readSession, takeLink: others };
  const site = await startDeskSite({ calls, deps: { pages } });
  const cookie = await site.enter();
  const look = async (sent?: string) => (await site.get('/', sent)).text;
  return { ...site, readSession, others, cookie, look };
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
  const { look, cookie, readSession } = await start();
  readSession.mockImplementation(answer);
  expect(await look(cookie)).toBe('visitor with timings');
  expect(readSession).toHaveBeenCalledTimes(1);
});

it('the store is not asked about cookies and links that the desk did not issue', async () => {
  const { get, post, readSession, others, cookie } = await start();
  const secret = () => randomBytes(32).toString('base64url');
  for (const guess of [secret(), `${secret()}.${secret().slice(0, 22)}`, cookie.replace(/^desk=.{43}/, secret())]) {
    await get('/', `desk=${guess}`);
    expect((await get('/desk', `desk=${guess}`)).status).toBe(401);
    await post('/desk', { _action: 'root.signIn', ticket: guess });
  }
  expect(readSession).not.toHaveBeenCalled();
  expect(others).not.toHaveBeenCalled();
});

it('the store is asked at most once in two seconds for reads, and for each change', async () => {
  const { get, post, readSession, cookie, pass } = await start();
  await Promise.all(['/', '/', '/desk', '/desk/_data'].map((path) => get(path, cookie)));
  await get('/desk', cookie);
  expect(readSession).toHaveBeenCalledTimes(1);
  await post('/desk', { _action: 'incidents.resolve', digest: '7K3QM2XA' }, cookie);
  expect(readSession).toHaveBeenCalledTimes(3);
  await pass(2 * Second);
  await get('/', cookie);
  expect(readSession).toHaveBeenCalledTimes(4);
});

it('an id can be read by each replica with the token, and cannot be forged', () => {
  const sessions = createSignedIds([ADA, VERA], 'session');
  const id = sessions.make(ADA);
  expect(createSignedIds([VERA, ADA], 'session').read(id)).toEqual(ADA);
  const secret = id.slice(0, 43);
  const unkeyed = createHmac('sha256', '').update(secret).digest('base64url').slice(0, 22);
  for (const guess of ['', secret, `${secret}.`, `${secret}.${unkeyed}`, `${id}=`, ` ${id}`, `${id}\n`]) {
    expect(sessions.read(guess), guess).toBeUndefined();
  }
  // Includes every other spelling of a valid id, also one that base64 decodes to the same bytes.
  const character = fc.constantFrom(...'ABCDwxyz0189-_.');
  fc.assert(
    fc.property(fc.nat(id.length - 1), character, (at, other) => {
      const changed = id.slice(0, at) + other + id.slice(at + 1);
      expect(sessions.read(changed)).toEqual(changed === id ? ADA : undefined);
    }),
    { numRuns: 500 },
  );
});

it('limits remembered sessions', async () => {
  const readSession = vi.fn(async () => undefined);
  const cache = createSessionCache({ readSession, now: () => 0 });
  for (let index = 0; index <= MAX_CACHED_SESSIONS; index += 1) await cache.read(String(index));
  await cache.read('0');
  expect(readSession).toHaveBeenCalledTimes(MAX_CACHED_SESSIONS + 2);
});
