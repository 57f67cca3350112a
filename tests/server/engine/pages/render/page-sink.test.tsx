import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { PageSink, type PageTarget } from '../../../../../src/server/engine/pages/render/page-sink.ts';
import { Await } from '../../../../../src/shared/engine/rendering/await.tsx';
import { useData } from '../../../../../src/shared/engine/rendering/hooks.ts';
import { createGate, parseDocument, startPages, type TestPage } from '../../../../support/pages-app.tsx';

function Two() {
  const { slow, quick } = useData<{ slow: Promise<string>; quick: Promise<string> }>();
  return (
    <>
      <Await value={slow} fallback={<i>slow is awaited</i>}>
        {(value) => <b>{value}</b>}
      </Await>
      <Await value={quick} fallback={<i>quick is awaited</i>}>
        {(value) => <b>{value}</b>}
      </Await>
    </>
  );
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
    const app = await startPages(
      [
        {
          id: 'page',
          path: '/page',
          view: Two,
          server: { loader: () => ({ slow: slow.promise, quick: quick.promise }) },
        },
      ],
      { compression: true },
    );
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
    const { payload, late, decoder } = parseDocument(text);
    expect(late.map((line) => JSON.parse(line)[0])).toEqual([1, 0]);
    expect(decoder.pending).toBe(0);
    await expect((payload.data.page as { slow: Promise<string> }).slow).resolves.toBe('slow is here');
    expect(text.endsWith('</body></html>')).toBe(true);
    expect(text.match(/<\/body>/g)).toHaveLength(1);
  });
});

it('a deferred value that no component awaits is sent before the document ends', async () => {
  const app = await startPages([
    {
      id: 'page',
      path: '/page',
      view: () => <p>page</p>,
      server: { loader: () => ({ late: sleep(60, '</body></html>') }) },
    },
  ]);
  const { text, chunks } = await app.ask('/page');
  expect(chunks[0]?.text).toContain('<p>page</p>');
  expect(chunks[0]?.text).not.toContain('data-late');
  const { payload } = parseDocument(text);
  await expect((payload.data.page as { late: Promise<string> }).late).resolves.toBe('</body></html>');
  expect(text.endsWith('</script></body></html>')).toBe(true);
  expect(text.match(/<\/body>/g)).toHaveLength(1);
});

describe('a large page with many deferred parts', () => {
  const ROWS = 60;
  const text = (row: number): string => `row ${row} <"&'> ${'😀é'.repeat(1200)} end ${row}`;

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
  const table: readonly TestPage[] = [
    {
      id: 'page',
      path: '/page',
      view: Rows,
      server: { loader: () => ({ rows: Array.from({ length: ROWS }, (_, row) => sleep((row * 7) % 50, text(row))) }) },
    },
  ];

  it.each(['/page', '/page?_whole=1'])(
    'has every script between two tags, and no broken character: %s',
    async (path) => {
      const app = await startPages(table, { compression: true });
      const { text: html } = await app.ask(path, { headers: { 'Accept-Encoding': 'gzip' } });
      expect(html.length).toBeGreaterThan(200_000);
      expect(html).not.toContain('\uFFFD');
      const { payload, late, decoder } = parseDocument(html);
      expect(late).toHaveLength(ROWS);
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
});

describe('PageSink', () => {
  class Target implements PageTarget {
    readonly parts: string[] = [];
    readonly destroyed = false;
    ended = false;
    close: () => void = () => {};
    drain: () => void = () => {};
    hasRoom = true;
    write(bytes: Buffer): boolean {
      this.parts.push(bytes.toString());
      return this.hasRoom;
    }
    end(bytes: Buffer): void {
      this.write(bytes);
      this.ended = true;
    }
    on(event: string, listener: () => void): void {
      if (event === 'close') this.close = listener;
      if (event === 'drain') this.drain = listener;
    }
    destroy(): void {
      this.close();
    }
    get text(): string {
      return this.parts.join('');
    }
  }

  function open(late?: AsyncIterable<string>, lead = '', whenStreaming = '') {
    const target = new Target();
    let ends = 0;
    const onEnd = (): void => {
      ends += 1;
    };
    const sink = new PageSink({ target, lead, tail: ['[tail]'], late, whenStreaming, onEnd });
    return { target, sink, ends: () => ends };
  }

  it.each([
    ['<html><head><link rel="stylesheet" href="/a.css"/>', '<html><head>[lead]<link rel="stylesheet" href="/a.css"/>'],
    ['<html lang="en"><head><meta charSet="utf-8"/><b/>', '<html lang="en"><head><meta charSet="utf-8"/>[lead]<b/>'],
    ['<html><head class="a"></head><body><header>', '<html><head class="a">[lead]</head><body><header>'],
  ])('puts the lead at the start of the head: %s', (written, sent) => {
    const { sink, target } = open(undefined, '[lead]');
    sink.write(written);
    sink.flush();
    expect(target.text).toBe(`${sent}[tail]`);
  });

  it('announces in the head that more follows, unless that was not known when the head was sent', () => {
    const late = (async function* () {})();
    for (const [name, values, text, sent] of [
      ['small', undefined, 'a', '<html><head>[lead][more]<title>a</title>[tail]'],
      ['large, with deferred values', late, 'a'.repeat(70_000), /^<html><head>\[lead\]\[more\].*<\/title>\[tail\]$/],
      ['large', undefined, 'a'.repeat(70_000), /^<html><head>\[lead\]<title>.*<\/title>\[tail\]\[more\]$/],
    ] as const) {
      const { sink, target } = open(values, '[lead]', '[more]');
      sink.write(`<html><head><title>${text}`);
      sink.write('</title>');
      sink.flush();
      expect(target.text, name).toEqual(typeof sent === 'string' ? sent : expect.stringMatching(sent));
    }
  });

  it("holds injected HTML back until React's output is between two tags", async () => {
    const { sink, target } = open();
    sink.write('<html><body>');
    sink.flush();
    sink.write('<p title="');
    sink.inject('[late]');
    expect(target.text).toBe('<html><body>[tail]');
    sink.write('x">y</p>');
    sink.flush();
    expect(target.text).toBe('<html><body>[tail]<p title="x">y</p>[late]');
    sink.inject('[now]');
    await immediate();
    expect(target.text).toMatch(/\[late\]\[now\]$/);
  });
});
