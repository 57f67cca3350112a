import { type ReactNode, useId } from 'react';
import { Outlet } from 'react-router';
import { describe, expect, it } from 'vitest';
import { personal } from '../../../../../src/server/engine/pages/personal.ts';
import type { EngineContext, LoaderArgs } from '../../../../../src/server/engine/pages/server-page.ts';
import { Await } from '../../../../../src/shared/engine/rendering/await.tsx';
import { useData } from '../../../../../src/shared/engine/rendering/hooks.ts';
import { startPages, type TestPage } from '../../../../support/pages-app.tsx';

interface Visitor extends EngineContext {
  readonly user: string;
}

interface Data {
  readonly title: string;
  readonly user: Promise<string>;
}

function Shop(): ReactNode {
  const { title, user } = useData<Data>();
  return (
    <main id={useId()}>
      <h1>{title}</h1>
      <Await value={user} fallback={<i>waiting</i>}>
        {(name) => <b>{name}</b>}
      </Await>
    </main>
  );
}

const createContext = (request: { headers: { cookie?: string } }) => ({ user: request.headers.cookie ?? 'nobody' });

function shop(count: () => void = () => {}): TestPage['server'] {
  return {
    loader(args: LoaderArgs<Visitor>) {
      count();
      return { title: 'The shop', user: personal(args, ({ context }) => context.user) };
    },
  };
}

function shellPage(server: TestPage['server'], rest: Partial<TestPage> = {}): readonly TestPage[] {
  return [
    { id: 'root', view: Outlet, children: [{ id: 'page', path: '/page', mode: 'shell', view: Shop, server, ...rest }] },
  ];
}

const cookie = (user: string) => ({ headers: { Cookie: user } });

describe('a shell page', () => {
  it('is rendered once, and each visitor gets only their own hole', async () => {
    let loads = 0;
    const app = await startPages(shellPage(shop(() => loads++)), { createContext });
    for (const user of ['ada', 'grace', 'ada']) {
      const { text, status } = await app.ask('/page', cookie(user));
      expect(status).toBe(200);
      expect(text).toContain(`<b>${user}</b>`);
    }
    expect(loads).toBe(1);
  });
});
