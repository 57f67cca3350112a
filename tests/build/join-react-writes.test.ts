import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { ReactNode } from 'react';
import type { PipeableStream } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { joinReactWrites } from '../../build/join-react-writes.mjs';

type Server = typeof import('react-dom/server') & typeof import('react-dom/static');

const require = createRequire(import.meta.url);
const file = require
  .resolve('react-dom/package.json')
  .replace('package.json', 'cjs/react-dom-server.node.production.js');
const source = readFileSync(file, 'utf8');

// In Vitest, `react` is the development build. A production server uses the production build.
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
    const { pipe } = server.renderToPipeableStream(node, {
      onShellReady: () => pipe(sink),
      onShellError: reject,
      onError: () => 'digest',
    });
  });
}

/** Resolves after turns of the event loop. Timers would fire together on a busy machine, in another order. */
function delay(turns: number): Promise<string> {
  return new Promise((resolve) => {
    const step = (left: number) => (left === 0 ? resolve(`after ${turns}`) : setImmediate(step, left - 1));
    step(turns);
  });
}

const Late = ({ value }: { value: Promise<string> }) => h('b', null, use(value));
const Broken = () => {
  throw new Error('broken');
};
const page = (...children: ReactNode[]) => h('html', null, h('head'), h('body', null, ...children));
const list = (count: number, text: string) =>
  Array.from({ length: count }, (_, index) => h('li', { key: index, title: text }, text, index));

/** Some fail or suspend after React has already written output, which it then discards. */
const trees: Record<string, () => ReactNode> = {
  'one string above the joined size': () => page('x'.repeat(50_000)),
  'text of several bytes a character': () => page(list(800, 'Grüße 日本語 🙂')),
  'lone surrogates': () => page(h('p', null, 'a\uD83D'), h('p', null, '\uDE00b')),
  'boundaries that settle one after the other': () =>
    page(
      [30, 10, 20].map((turns) =>
        h(Suspense, { key: turns, fallback: h('i', null, turns) }, h(Late, { value: delay(turns) }), list(200, 'é')),
      ),
    ),
  'a sibling before a suspending component': () => {
    const late = delay(10);
    return page(
      h('p', null, 'before', h('i'), h(Suspense, { fallback: 'wait' }, 'text', h(Late, { value: late }), 'after')),
    );
  },
  'one boundary within another': () => {
    const [outer, inner] = [delay(20), delay(5)];
    return page(
      h(
        Suspense,
        { fallback: h('i', null, 'outer') },
        h(Late, { value: outer }),
        h(Suspense, { fallback: h('i', null, 'inner') }, 'a', h(Late, { value: inner }), list(300, 'b')),
      ),
    );
  },
  'a boundary whose content fails': () =>
    page('a', h(Suspense, { fallback: h('i', null, 'fallback') }, h('b', null, 'lost', h(Broken))), 'z'),
};

describe('joined writes', () => {
  it('resume a prerendered page with its late part', async () => {
    const parts: string[] = [];
    for (const server of [plain, joined]) {
      const value = delay(30);
      const tree = () => page('shell', h(Suspense, { fallback: 'wait' }, h(Late, { value }), list(100, 'é')));
      const aborter = new AbortController();
      const prerendered = server.prerenderToNodeStream(tree(), { signal: aborter.signal, onError: () => undefined });
      setImmediate(() => aborter.abort());
      const { prelude, postponed } = await prerendered;
      const sink = new Sink();
      const finished = new Promise((resolve) => sink.on('finish', resolve));
      const resumed = server.resumeToPipeableStream(tree(), JSON.parse(JSON.stringify(postponed)), {
        onShellReady: () => resumed.pipe(sink),
      }) as unknown as PipeableStream; // its type is wrong: it is not a promise
      const shell = await text(prelude);
      await finished;
      parts.push(shell, sink.bytes.toString());
    }
    expect(parts.slice(2)).toEqual(parts.slice(0, 2));
    expect(parts[0]).toContain('shell');
    expect(parts[1]).toContain('after 30');
  });

  for (const [name, tree] of Object.entries(trees)) {
    it(`sends the same bytes as the unmodified build: ${name}`, async () => {
      const [expected, actual] = [await stream(plain, tree()), await stream(joined, tree())];
      expect(actual.bytes.toString('latin1')).toBe(expected.bytes.toString('latin1'));
      expect(expected.bytes.toString()).toContain('</body></html>');
    });
  }

  it('supports the installed react-dom, and writes fewer and larger chunks', async () => {
    const [many, few] = [await stream(plain, page(list(3000, 'card'))), await stream(joined, page(list(3000, 'card')))];
    expect(joinReactWrites(source).joined).toBe(true);
    expect(few.chunks.length).toBeLessThan(many.chunks.length / 2);
  });

  for (const size of [10, 100_000]) {
    it(`keeps nothing of a page of ${size} characters whose destination throws for the next one`, async () => {
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
              // React can rethrow the error of the destination.
            }
            resolve();
          },
        });
      });
      const next = await stream(joined, page('page of B'));
      expect(next.bytes.toString()).toBe((await stream(plain, page('page of B'))).bytes.toString());
    });
  }

  it('does not change a react-dom with different text', () => {
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
