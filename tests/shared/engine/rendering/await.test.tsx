import { PassThrough } from 'node:stream';
import type { ReactNode } from 'react';
import { renderToPipeableStream } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { Await } from '../../../../src/shared/engine/rendering/await.tsx';
import { type Engine, EngineContext, type ErrorPages } from '../../../../src/shared/engine/rendering/engine-context.ts';
import { toShownError } from '../../../../src/shared/engine/rendering/page-error.ts';
import { createDecoder } from '../../../../src/shared/engine/wire/wire.ts';

const nothing = () => null;
const ERROR_PAGES: ErrorPages = {
  notFound: nothing,
  forbidden: nothing,
  unauthorized: nothing,
  public: nothing,
  failure: nothing,
};

/** Returns the markup when the shell is ready, and all of it. */
function render(
  children: ReactNode,
  { toPageError = toShownError, onShell }: { toPageError?: Engine['toPageError']; onShell?: () => void } = {},
): Promise<{ shell: string; whole: string }> {
  const engine: Engine = { host: '', errorPages: ERROR_PAGES, modules: new Map(), styles: new Map(), toPageError };
  return new Promise((resolve, reject) => {
    const sink = new PassThrough();
    let shell = '';
    const stream = renderToPipeableStream(
      // Without <html>, React delays the shell, because a document element could follow.
      <EngineContext value={engine}>
        <html lang="en">
          <body>{children}</body>
        </html>
      </EngineContext>,
      {
        onShellReady() {
          stream.pipe(sink);
          let whole = '';
          sink.on('data', (bytes: Buffer) => {
            whole += bytes.toString();
            if (shell !== '') return;
            shell = whole;
            onShell?.();
          });
          sink.on('end', () => resolve({ shell, whole }));
        },
        onShellError: reject,
        onError: () => 'DIGEST',
      },
    );
  });
}

describe('Await', () => {
  it('shows a value that is not a promise immediately', async () => {
    for (const value of ['here', 0, null, undefined, { a: 1 }]) {
      const { whole } = await render(
        <Await value={value} fallback={<i>waiting</i>}>
          {(late) => <b>{JSON.stringify(late) ?? 'undefined'}</b>}
        </Await>,
      );
      expect(whole).toMatch(/<b>.*<\/b>/);
      expect(whole).not.toContain('waiting');
    }
  });

  it('shows an already settled value without a flash of the fallback', async () => {
    const decoder = createDecoder();
    const page = decoder.head('{"d":{"good":0,"bad":1},"p":[["promise",0,"good"],["promise",0,"bad"]]}') as {
      good: Promise<string>;
      bad: Promise<string>;
    };
    decoder.late('[0,0,{"d":"here"}]');
    decoder.late('[1,1,{"d":{"kind":"failure","status":500,"digest":"7K3QM2XA-9F4W0R6B"}}]');
    const { shell } = await render(
      <>
        <Await value={page.good} fallback={<i>waiting</i>}>
          {(late) => <b>{late}</b>}
        </Await>
        <Await value={page.bad} fallback={<i>waiting</i>}>
          {(late) => <b>{late}</b>}
        </Await>
      </>,
    );
    expect(shell).toContain('<b>here</b>');
    expect(shell).toContain('<code>7K3QM2XA-9F4W0R6B</code>');
    expect(shell).not.toContain('waiting');
  });
});
