import { describe, expect, it } from 'vitest';
import { StoreAwayError } from '../../../../src/server/desk/store/sql.ts';
import { requestInfo } from '../../../../src/server/engine/http/request-info.ts';
import { createFakePages } from '../../../support/app.ts';
import { startDeskSite } from '../../../support/desk-site.ts';

describe('who looks at the site', () => {
  /** Pages that say whether an operator asks, and of which sessions the store was asked. */
  async function start(readSession?: () => Promise<never>) {
    const asked: string[] = [];
    const { store } = await startDeskSite();
    const sessions = new Proxy(store, {
      get(of, name) {
        if (name !== 'readSession') return Reflect.get(of, name).bind(of);
        return async (idHash: string) => {
          asked.push(idHash);
          return readSession ? readSession() : store.readSession(idHash);
        };
      },
    });
    const pages = createFakePages({
      pages: (req, res) => void res.type('text').send(requestInfo(req).isOperator ? 'operator' : 'visitor'),
    });
    const site = await startDeskSite({ sessions, deps: { pages } });
    return { ...site, asked };
  }

  it('is an operator with a session, and costs nothing without a cookie', async () => {
    const { get, enter, post, asked } = await start();
    expect((await get('/')).text).toBe('visitor');
    expect((await get('/', 'theme=dark')).text).toBe('visitor');
    expect((await get('/', 'desk=forged')).text).toBe('visitor');
    expect(asked).toEqual([]);
    const cookie = await enter();
    expect((await get('/', cookie)).text).toBe('operator');
    await post('/desk', { _action: 'root.signOut' }, cookie);
    expect((await get('/', cookie)).text).toBe('visitor');
  });

  it('is a visitor where the store is away, or does not answer', async () => {
    const cookie = `desk=${'x'.repeat(43)}`;
    const away = await start(async () => {
      throw new StoreAwayError('away');
    });
    expect((await away.get('/', cookie)).text).toBe('visitor');
    const hung = await start(() => new Promise(() => {}));
    const startedAt = performance.now();
    expect((await hung.get('/', cookie)).text).toBe('visitor');
    expect(performance.now() - startedAt).toBeLessThan(1500);
  });
});
