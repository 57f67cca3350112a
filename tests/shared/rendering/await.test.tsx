import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { Await } from '../../../src/shared/rendering/await.tsx';
import { EngineContext } from '../../../src/shared/rendering/engine-context.ts';
import { toShownError } from '../../../src/shared/rendering/page-error.ts';
import { createDecoder } from '../../../src/shared/wire/decode.ts';
import { TEST_ERROR_PAGES, TestDocument } from '../../support/pages-app.tsx';

it('Await shows an already settled value without a flash of the fallback', () => {
  const decoder = createDecoder();
  const values = decoder.head('{"d":[0,1],"p":[["promise",0,0],["promise",0,1]]}') as Promise<string>[];
  decoder.deferred('[0,0,{"d":"here"}]');
  decoder.deferred('[1,1,{"d":{"kind":"failure","status":500,"digest":"7K3QM2XA-9F4W0R6B"}}]');
  const engine = {
    ...{ host: '', document: TestDocument, errorPages: TEST_ERROR_PAGES, modules: new Map(), styles: new Map() },
    toPageError: toShownError,
  };
  const html = renderToStaticMarkup(
    <EngineContext value={engine}>
      {values.map((value, index) => (
        <Await key={index} value={value} fallback="waiting">
          {(late) => late}
        </Await>
      ))}
    </EngineContext>,
  );
  expect(html).toMatch(/here.*7K3QM2XA-9F4W0R6B/);
  expect(html).not.toContain('waiting');
});
