import { expect, it } from 'vitest';
import { oncePerRequest } from '../../../src/server/pages/once-per-request.ts';
import type { LoaderArgs } from '../../../src/server/pages/server-page.ts';
import { useData } from '../../../src/shared/rendering/hooks.ts';
import { parsePage, startPages, type TestPage } from '../../support/pages-app.tsx';

function Page() {
  return <p>{useData<string>()}</p>;
}

/** A layout with a guard around its page. Both show the current user. */
function guarded(look: (args: LoaderArgs) => unknown, mode: 'dynamic' | 'static' = 'dynamic') {
  const findUser = oncePerRequest(look);
  const table: TestPage[] = [
    {
      id: 'root',
      server: { guard: async (args) => void (await findUser(args)), loader: findUser },
      children: [
        {
          id: 'page',
          path: '/page/:name',
          view: Page,
          mode,
          server: { loader: findUser, actions: { save: (args) => ({ saved: findUser(args) }) } },
        },
      ],
    },
  ];
  return startPages(table);
}

it('looks up once for all guards and loaders of a request, and again for the next one and after an action', async () => {
  const looked: unknown[] = [];
  const app = await guarded(({ params }) => `${looked.push(params.name)} ${params.name}`);
  const { payload } = parsePage((await app.ask('/_data/page/ada')).text);
  expect(payload.data).toMatchObject({ root: '1 ada', page: '1 ada' });
  expect((await app.ask('/page/grace')).text).toContain('<p>2 grace</p>');
  const { text } = await app.post('/page/ada', '_action=page.save');
  expect(text).toContain('"saved":"3 ada"'); // found by a guard
  expect(text).toContain('<p>4 ada</p>');
  expect(looked).toHaveLength(4);
});

it('does not let a static page read more of a visitor than it could without it', async () => {
  const fine = await guarded(({ params }) => `for ${params.name}`, 'static');
  expect((await fine.ask('/page/ada')).text).toContain('<p>for ada</p>');
  const nosy = await guarded(({ context }) => (context as unknown as { user: string }).user, 'static');
  expect((await nosy.ask('/page/ada')).status).toBe(500);
  expect(String(nosy.failures()[0]?.stack)).toContain('A static page read context.user.');
});
