import { createHmac, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { MAX_COUNTED_SENDERS } from '../../../../src/server/access/limits.ts';
import { createWrongTokens } from '../../../../src/server/access/wrong-tokens.ts';
import { createSignedIds } from '../../../../src/server/desk/access/signed-ids.ts';
import { StoreAwayError } from '../../../../src/server/desk/store/sql.ts';
import { requestInfo } from '../../../../src/server/engine/request/request-info.ts';
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

it('limits remembered senders of wrong tokens', () => {
  const replicas = { countAttempts: () => new Promise<never>(() => {}) };
  const wrong = createWrongTokens({ replicas, secret: 'secret', now: () => 0 });
  for (let time = 0; time < 5; time += 1) wrong.add(['192.0.2.1']);
  expect(wrong.waitOf(['192.0.2.1'])).toBeGreaterThan(0);
  for (let index = 0; index < MAX_COUNTED_SENDERS; index += 1) wrong.add([`host-${index}`]);
  expect(wrong.waitOf(['192.0.2.1'])).toBe(0);
});
