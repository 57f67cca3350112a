import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Writable } from 'node:stream';
import type { ReactNode } from 'react';
import { describe, expect, it } from 'vitest';
import { joinReactWrites } from '../../build/join-react-writes.mjs';

type Server = typeof import('react-dom/server');

const require = createRequire(import.meta.url);
const file = require
  .resolve('react-dom/package.json')
  .replace('package.json', 'cjs/react-dom-server.node.production.js');
const source = readFileSync(file, 'utf8');

// Vitest's `react` is the development build; a production server needs the production one.
const react = evaluate(
  readFileSync(require.resolve('react/package.json').replace('package.json', 'cjs/react.production.js'), 'utf8'),
);
const reactDom = evaluate(readFileSync(file.replace('react-dom-server.node', 'react-dom'), 'utf8'));
const { createElement: h, Suspense, use } = react as typeof import('react');
const plain = evaluate(source) as Server;
const joined = evaluate(joinReactWrites(source).code) as Server;

function evaluate(code: string): unknown {
  const module = { exports: {} };
  const requireProduction = (id: string) => (id === 'react' ? react : id === 'react-dom' ? reactDom : require(id));
  new Function('exports', 'module', 'require', code)(module.exports, module, requireProduction);
  return module.exports;
}

class Sink extends Writable {
  readonly chunks: Buffer[] = [];
  override _write(chunk: Buffer, _encoding: string, done: () => void) {
    this.chunks.push(chunk);
    done();
  }
  get bytes() {
    return Buffer.concat(this.chunks);
  }
}

function stream(server: Server, node: ReactNode, sink = new Sink()): Promise<Sink> {
  return new Promise((resolve, reject) => {
    sink.on('finish', () => resolve(sink)).on('error', reject);
    const { pipe } = server.renderToPipeableStream(node, { onShellReady: () => pipe(sink), onShellError: reject });
  });
}

const delay = (ms: number) => new Promise<string>((resolve) => setTimeout(resolve, ms, `after ${ms} ms`));
const Late = ({ value }: { value: Promise<string> }) => h('b', null, use(value));
const page = (...children: ReactNode[]) => h('html', null, h('head'), h('body', null, ...children));
const list = (count: number, text: string) =>
  Array.from({ length: count }, (_, index) => h('li', { key: index, title: text }, text, index));

const trees: Record<string, () => ReactNode> = {
  'an empty page': () => page(),
  'one string above the joined size': () => page('x'.repeat(50_000)),
  'many small strings': () => page(list(3000, 'card')),
  'text of several bytes a character': () => page(list(800, 'Grüße 日本語 🙂')),
  'lone surrogates': () => page(h('p', null, 'a\uD83D'), h('p', null, '\uDE00b')),
  'text that must be escaped': () => page(h('p', { title: '"<&>' }, '</script><!-- & -->')),
  'a boundary that suspends': () => page(h(Suspense, { fallback: '…' }, h(Late, { value: delay(10) }))),
  'boundaries that settle in turn': () =>
    page(
      [30, 10, 20].map((ms) =>
        h(Suspense, { key: ms, fallback: h('i', null, ms) }, h(Late, { value: delay(ms) }), list(200, 'é')),
      ),
    ),
};

describe('joined writes', () => {
  it('knows the react-dom that is installed', () => {
    expect(joinReactWrites(source).joined).toBe(true);
  });

  for (const [name, tree] of Object.entries(trees)) {
    it(`sends the bytes of the plain build: ${name}`, async () => {
      const [expected, actual] = [await stream(plain, tree()), await stream(joined, tree())];
      expect(actual.bytes.toString('latin1')).toBe(expected.bytes.toString('latin1'));
    });
  }

  it('hands the destination fewer and larger chunks', async () => {
    const [many, few] = [await stream(plain, page(list(3000, 'card'))), await stream(joined, page(list(3000, 'card')))];
    expect(few.chunks.length).toBeLessThan(many.chunks.length / 2);
  });

  it('sends the shell before late content has settled', async () => {
    let settle: (text: string) => void = () => undefined;
    const value = new Promise<string>((resolve) => {
      settle = resolve;
    });
    const sink = new Sink();
    const ended = stream(
      joined,
      page(h('p', null, 'shell'), h(Suspense, { fallback: 'waiting' }, h(Late, { value }))),
      sink,
    );
    await delay(30);
    expect(sink.bytes.toString()).toContain('<p>shell</p>');
    expect(sink.bytes.toString()).toContain('waiting');
    expect(sink.bytes.toString()).not.toContain('<b>');
    settle('came late');
    await ended;
    expect(sink.bytes.toString()).toContain('<b>came late</b>');
  });

  for (const size of [10, 100_000]) {
    it(`leaves nothing of a page of ${size} characters whose destination throws to the next one`, async () => {
      const throwing = Object.assign(new Sink(), {
        write: () => {
          throw new Error('the socket is gone');
        },
      });
      await new Promise<void>((resolve) => {
        const { pipe } = joined.renderToPipeableStream(page('secret of A '.repeat(size / 10)), {
          onError: () => undefined,
          onShellReady: () => {
            try {
              pipe(throwing);
            } catch {
              // React may hand on what the destination threw.
            }
            resolve();
          },
        });
      });
      const next = await stream(joined, page('page of B'));
      expect(next.bytes.toString()).toBe((await stream(plain, page('page of B'))).bytes.toString());
    });
  }

  it('leaves a react-dom with other text as it is', () => {
    for (const changed of [
      source.replace('4096 < chunk.byteLength', '8192 < chunk.byteLength'),
      source.replace('  currentView = new Uint8Array(4096);\n  writtenBytes = 0;\n', ''),
      `${source}\nwrittenBytes = 1;`,
      'module.exports = {};',
    ]) {
      expect(changed).not.toBe(source);
      expect(joinReactWrites(changed)).toEqual({ code: changed, joined: false });
    }
  });
});
