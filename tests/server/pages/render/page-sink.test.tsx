import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import { describe, expect, it } from 'vitest';
import { Await } from '../../../../src/shared/rendering/await.tsx';
import { useData } from '../../../../src/shared/rendering/hooks.ts';
import { createGate, parsePage, startPage, type TestPage } from '../../../support/pages-app.tsx';

function Two() {
  const data = useData<{ slow: Promise<string>; quick: Promise<string> }>();
  return Object.entries(data).map(([name, late]) => (
    <Await key={name} value={late} fallback={<i>{`${name} is awaited`}</i>}>
      {(value) => <b>{value}</b>}
    </Await>
  ));
}

const ENCODINGS = [
  ['no compression', {}],
  ['gzip', { 'Accept-Encoding': 'gzip' }],
  ['br', { 'Accept-Encoding': 'br' }],
] as const;

describe.each(ENCODINGS)('a stream with %s', (encoding, headers) => {
  it('sends the shell, then each deferred value when it settles', async () => {
    const slow = createGate<string>();
    const quick = createGate<string>();
    const server = { loader: () => ({ slow: slow.promise, quick: quick.promise }) };
    const app = await startPage({ view: Two, server }, { compression: true });
    const stages: string[] = [];
    const { text, headers: answered } = await app.ask('/page', {
      headers,
      onText(soFar) {
        // Each value settles only after everything before it has arrived.
        if (stages.length === 0 && soFar.includes('src="/assets/main-A1.js"')) {
          stages.push(soFar);
          quick.resolve('quick is here');
        } else if (stages.length === 1 && soFar.includes('quick is here')) {
          stages.push(soFar);
          slow.resolve('slow is here');
        }
      },
    });
    if (encoding !== 'no compression') expect(answered['content-encoding']).toBe(encoding);
    expect(stages).toHaveLength(2);
    expect(stages[0]).toContain('slow is awaited');
    expect(stages[0]).toContain('id="spillway-payload"');
    expect(stages[1]).not.toContain('slow is here');
    const { payload, deferred, decoder } = parsePage(text);
    expect(deferred.map((line) => JSON.parse(line)[0])).toEqual([1, 0]);
    expect(decoder.pending).toBe(0);
    await expect((payload.data.page as { slow: Promise<string> }).slow).resolves.toBe('slow is here');
    expect(text.endsWith('</body></html>')).toBe(true);
    expect(text.match(/<\/body>/g)).toHaveLength(1);
  });
});

it('a deferred value that no component awaits is sent before the document ends', async () => {
  const late = createGate<string>();
  const app = await startPage({ view: () => <p>page</p>, server: { loader: () => ({ late: late.promise }) } });
  const { text, chunks } = await app.ask('/page', { onText: () => late.resolve('</body></html>') });
  expect(chunks[0]?.text).toContain('<p>page</p>');
  expect(chunks[0]?.text).not.toContain('data-late');
  const { payload } = parsePage(text);
  await expect((payload.data.page as { late: Promise<string> }).late).resolves.toBe('</body></html>');
  expect(text.endsWith('</script></body></html>')).toBe(true);
  expect(text.match(/<\/body>/g)).toHaveLength(1);
});

const ROWS = 60;
const text = (row: number) => `row ${row} <"&'> ${'😀é'.repeat(1200)} end ${row}`;

function Rows() {
  const { rows } = useData<{ rows: Promise<string>[] }>();
  return (
    <>
      <p title={'😀'.repeat(50_001)}>{'a😀'.repeat(60_000)}</p>
      {rows.map((row, index) => (
        <section key={index}>
          <Await value={row} fallback={<i data-row={index}>waiting</i>}>
            {(value) => <b title={value}>{value}</b>}
          </Await>
        </section>
      ))}
    </>
  );
}
const loadRows = () => ({ rows: Array.from({ length: ROWS }, (_, row) => sleep((row * 7) % 50, text(row))) });

it.each(['/page', '/page?_whole=1'])(
  'a large page with many deferred parts has every script between two tags, and no broken character: %s',
  async (path) => {
    const app = await startPage({ view: Rows, server: { loader: loadRows } }, { compression: true });
    const { text: html } = await app.ask(path, { headers: { 'Accept-Encoding': 'gzip' } });
    expect(html.length).toBeGreaterThan(200_000);
    expect(html).not.toContain('\uFFFD');
    const { payload, deferred, decoder } = parsePage(html);
    expect(deferred).toHaveLength(ROWS);
    expect(decoder.pending).toBe(0);
    const rows = (payload.data.page as { rows: Promise<string>[] }).rows;
    expect(await Promise.all(rows)).toEqual(Array.from({ length: ROWS }, (_, row) => text(row)));

    // Without Spillway's blocks, the rest is React's output. Every tag is closed, and every row occurs once.
    const rest = html
      .replace(/<script type="application\/json"[^>]*>.*?<\/script>/gs, '')
      .replace(/<script[^>]*>.*?<\/script>/gs, '');
    const tags = rest.match(/<(?!!)[^<>]*>/g) ?? [];
    for (const tag of tags) expect(tag).toMatch(/^<\/?[a-z][a-z0-9]*(?:\s+[a-zA-Z-]+(?:="[^"]*")?)*\s*\/?>$/);
    expect(rest).toContain(`<p title="${'😀'.repeat(50_001)}">${'a😀'.repeat(60_000)}</p>`);
    for (let row = 0; row < ROWS; row += 1) {
      expect(rest.split(`end ${row}</b>`), `row ${row}`).toHaveLength(2);
    }
  },
);

const CRAWLER = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
const view = () => <p>page</p>;
function Late() {
  return <Await value={useData<{ late: Promise<string> }>().late}>{(value) => <b>{value}</b>}</Await>;
}
const loadLate = () => ({ late: sleep(30, 'late') });

/** A step whose `writeHead()` throws once, as the package `on-headers` calls a listener. */
const failAtHead: RequestHandler = (_req, res, next) => {
  const { writeHead } = res;
  res.writeHead = () => {
    res.writeHead = writeHead;
    throw new Error('The cookie is not valid.');
  };
  next();
};

it.each<[string, Partial<TestPage>]>([
  ['a page', { view }],
  ['one that is streamed', { view: Late, server: { loader: loadLate } }],
  ['one whose deferred value no component shows', { view, server: { loader: loadLate } }],
  ['a shell', { mode: 'shell', view }],
  ['a static page', { mode: 'static', view }],
])('a step that throws when the head is written fails %s, for visitors and crawlers', async (_what, page) => {
  const app = await startPage(page, { steps: [failAtHead], compression: true });
  const kinds: Record<string, string>[] = [{}, { 'User-Agent': CRAWLER }, { 'Accept-Encoding': 'gzip' }];
  for (const headers of kinds) {
    const reply = await app.ask('/page', { headers });
    expect([reply.status, reply.headers['content-type']]).toEqual([500, 'text/html; charset=utf-8']);
    expect(reply.text).toContain(reply.headers['x-error-digest']);
    expect(reply.text).not.toContain('<p>page</p>');
  }
  expect(app.failures()).toHaveLength(3);
});
