import { expect, it } from 'vitest';
import { warnOfCookies } from '../../../../src/server/engine/develop/development.ts';
import { startPages, toDataPath } from '../../../support/pages-app.tsx';

const PREFETCH = { Purpose: 'prefetch' };

it('warns once for each cookie that a prefetch changes, and of no other', async () => {
  const warned: unknown[] = [];
  const log = { warn: (fields: unknown) => void warned.push(fields) };
  const app = await startPages(
    [
      {
        id: 'page',
        path: '/sign-out',
        view: () => <p>bye</p>,
        server: { guard: ({ context }) => context.setCookies() },
      },
    ],
    {
      steps: [warnOfCookies(log)],
      createContext: (_request, response) => ({
        setCookies() {
          response.cookie('rolls', 'same').clearCookie('session');
        },
      }),
    },
  );
  const headers = { Cookie: 'rolls=same; session=ada' };
  await app.ask(toDataPath('/sign-out'), { headers });
  expect(warned).toEqual([]);
  await app.ask(toDataPath('/sign-out'), { headers: { ...headers, ...PREFETCH } });
  const reply = await app.ask(toDataPath('/sign-out'), { headers: { ...headers, ...PREFETCH } });
  expect(warned).toEqual([{ path: '/sign-out', cookie: 'session' }]);
  expect(reply.headers['set-cookie']).toHaveLength(2);
});
