import type { ServerResponse } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { personal } from '../../../src/server/pages/personal.ts';
import type { LoaderArgs } from '../../../src/server/pages/server-page.ts';
import { Await } from '../../../src/shared/rendering/await.tsx';
import { useData } from '../../../src/shared/rendering/hooks.ts';
import { KiB } from '../../../src/shared/units.ts';
import { startPage } from '../../support/pages-app.tsx';
import { until } from '../../support/until.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function Visit() {
  return <Await value={useData<{ id: Promise<string> }>().id}>{(id) => <b>{id}</b>}</Await>;
}

it('a shell in memory does not hold the request of the visitor who caused its render', async () => {
  const responses: WeakRef<ServerResponse>[] = [];
  const loader = (args: LoaderArgs) => ({ id: personal(args, () => args.params.id) });
  const app = await startPage(
    { path: '/page/:id', mode: 'shell', view: Visit, server: { loader } },
    {
      steps: [
        (_req, res, next) => {
          responses.push(new WeakRef(res));
          next();
        },
      ],
    },
  );
  for (let id = 0; id < 5; id += 1) expect((await app.ask(`/page/${id}`)).text).toContain(`<b>${id}</b>`);
  // A few more, because the last ones can still be in use.
  for (let more = 0; more < 5; more += 1) await app.ask('/nothing');
  await until(() => {
    collectGarbage();
    return responses.slice(0, 5).every((response) => response.deref() === undefined);
  }, 'the first responses to be collected');
});

it('static pages in memory take little more than their bytes', async () => {
  const view = () => <p>{'words '.repeat(100)}</p>;
  const app = await startPage({ path: '/page/:id', mode: 'static', view }, { compression: true });
  const measure = () => {
    collectGarbage();
    return process.memoryUsage().arrayBuffers;
  };
  await app.ask('/page/first');
  const before = measure();
  for (let id = 0; id < 50; id += 1) await app.ask(`/page/${id}`);
  await until(() => measure() - before < 50 * 16 * KiB, 'the memory of 50 pages', 5000);
});
