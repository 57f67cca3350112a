import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { personal } from '../../../../src/server/pages/personal.ts';
import { revalidate } from '../../../../src/server/pages/revalidate.ts';
import { invalid, type LoaderArgs, type LoaderContext } from '../../../../src/server/pages/server-page.ts';
import { Await } from '../../../../src/shared/rendering/await.tsx';
import { useData } from '../../../../src/shared/rendering/hooks.ts';
import { type AskOptions, FORM, startPages } from '../../../support/pages-app.tsx';

const REQUESTS = 300;
/** Requests at the same time (count). */
const VISITORS = 50;

type Args = LoaderArgs<LoaderContext & { readonly secret: string }>;

interface Data {
  readonly article: string;
  readonly name: Promise<string>;
  readonly cart: Promise<{ item: string; total: Promise<string> }>;
}

function Shop() {
  const { article, name, cart } = useData<Data>();
  return (
    <main>
      <Await value={name}>{(value) => <b>{value}</b>}</Await>
      <p>{article}</p>
      <Await value={cart}>
        {({ item, total }) => (
          <i>
            {item} <Await value={total}>{(value) => value}</Await>
          </i>
        )}
      </Await>
    </main>
  );
}

const pause = () => sleep(Math.random() * 8);

it(`brings no visitor's secret to another in ${REQUESTS} interleaved requests`, { timeout: 120_000 }, async () => {
  const app = await startPages(
    [
      {
        id: 'page',
        path: '/page/:id',
        mode: 'shell',
        view: Shop,
        server: {
          async loader(args: Args) {
            await pause();
            return {
              article: `article ${args.params.id}`,
              name: personal(args, async ({ context }) => {
                if (Math.random() < 0.5) await pause();
                if (context.secret.startsWith('f')) throw new Error(context.secret);
                return context.secret;
              }),
              cart: personal(args, async ({ context }) => {
                await pause();
                return { item: `item-${context.secret}`, total: pause().then(() => `total-${context.secret}`) };
              }),
            };
          },
          actions: { save: ({ context }: Args) => invalid({ errors: { '': context.secret } }) },
        },
      },
    ],
    { createContext: ({ request }) => ({ secret: String(request.headers.cookie) }) },
  );
  const secrets = Array.from({ length: REQUESTS }, () => randomBytes(12).toString('hex'));
  const known = new Set(secrets);

  async function visit(number: number) {
    const secret = secrets[number] ?? '';
    const [path = '', ask = {}] = toRequest(number);
    const reply = await app.ask(path, { ...ask, headers: { ...ask.headers, Cookie: secret } });
    const found = new Set((reply.text.match(/[0-9a-f]{24}/g) ?? []).filter((text) => known.has(text)));
    const isShared = path.startsWith('/_data') && !path.includes('_holes');
    expect([...found], `${path} for ${secret}`).toEqual(isShared ? [] : [secret]);
    expect(reply.text).not.toContain('"kind":"redirect"');
    if (Math.random() < 0.05) revalidate(`/page/${number % 3}`);
  }

  let next = 0;
  await Promise.all(
    Array.from({ length: VISITORS }, async () => {
      while (next < REQUESTS) await visit(next++);
    }),
  );
});

const POST = { method: 'POST', headers: FORM, body: '_action=page.save' };

function toRequest(number: number): readonly [path: string, ask?: AskOptions] {
  const path = `/page/${number % 3}`;
  const requests = [[`/_data${path}?_holes=`], [`/_data${path}`], [`${path}?_whole=1`], [path, POST]] as const;
  return requests[number % 7] ?? [path];
}
