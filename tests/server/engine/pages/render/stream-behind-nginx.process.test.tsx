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

const LATE_MS = 500;

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
    server: { loader: () => ({ late: new Promise((resolve) => setTimeout(resolve, LATE_MS, 'late is here')) }) },
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
      const ask = (path: string): Promise<Reply> =>
        readReply(get({ host: '127.0.0.1', port, path, headers, agent: false }));

      const page = await ask('/page');
      expect([page.status, page.headers['content-encoding']]).toEqual([200, encoding]);
      const shell = page.chunks.find(({ text }) => text.includes('waiting'));
      const late = page.chunks.find(({ text }) => text.includes('late is here'));
      expect(late?.at).toBeGreaterThan(LATE_MS - 50);
      expect((late?.at ?? 0) - (shell?.at ?? 0)).toBeGreaterThan(LATE_MS / 2);
      expect(parseDocument(page.text).decoder.pending).toBe(0);

      const data = await ask(toDataPath('/page'));
      expect(data.headers['content-encoding']).toBe(encoding);
      const [first] = data.chunks;
      expect(first?.text).toMatch(/^\{.*\}\n$/);
      expect((data.chunks.at(-1)?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(LATE_MS / 2);
      expect(parseData(data.text).late).toHaveLength(1);
    });
  },
);
