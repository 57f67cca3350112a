import { get } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Await } from '../../../../../src/shared/engine/rendering/await.tsx';
import { useData } from '../../../../../src/shared/engine/rendering/hooks.ts';
import { hasNginx, startNginx } from '../../../../support/nginx.ts';
import {
  parseData,
  parseDocument,
  type Reply,
  readReply,
  startPages,
  type TestPage,
  toDataPath,
} from '../../../../support/pages-app.tsx';

/** Resolves the deferred value of the last request. */
let resolveLate = () => {};

function Page() {
  return (
    <Await value={useData<{ late: Promise<string> }>().late} fallback={<i>waiting</i>}>
      {(value) => <b>{value}</b>}
    </Await>
  );
}

const TABLE: readonly TestPage[] = [
  {
    id: 'page',
    path: '/page',
    view: Page,
    server: {
      loader: () => ({
        late: new Promise((resolve) => {
          resolveLate = () => resolve('late is here');
        }),
      }),
    },
  },
];

describe.skipIf(!hasNginx)(
  `behind nginx in its installed configuration${hasNginx ? '' : ' (skipped: there is no nginx on the PATH)'}`,
  () => {
    it.each([
      ['without compression', undefined, {}],
      ['with gzip', 'gzip', { 'Accept-Encoding': 'gzip' }],
      ['with br', 'br', { 'Accept-Encoding': 'br' }],
    ])('the shell arrives before deferred values, %s', async (_name, encoding, headers) => {
      const app = await startPages(TABLE, { compression: encoding !== undefined });
      const { port, stop } = await startNginx({ upstream: `127.0.0.1:${app.port}` });
      onTestFinished(stop);
      // A proxy that collects answers would wait forever: the late value follows the first bytes.
      const ask = (path: string): Promise<Reply> => {
        const asked = get({ host: '127.0.0.1', port, path, headers, agent: false });
        asked.once('response', (reply) => reply.once('data', () => resolveLate()));
        return readReply(asked);
      };

      const page = await ask('/page');
      expect([page.status, page.headers['content-encoding']]).toEqual([200, encoding]);
      expect(page.text.indexOf('waiting')).toBeLessThan(page.text.indexOf('late is here'));
      expect(parseDocument(page.text).decoder.pending).toBe(0);

      const data = await ask(toDataPath('/page'));
      expect(data.headers['content-encoding']).toBe(encoding);
      expect(data.chunks[0]?.text).toMatch(/^\{.*\}\n$/);
      expect(parseData(data.text).late).toHaveLength(1);
    });
  },
);
