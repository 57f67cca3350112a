import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readIndexes, rewrite } from '../../bin/codemods/0.2.0.mjs';

const find = readIndexes(fileURLToPath(new URL('../..', import.meta.url)));

describe('0.2.0', () => {
  it.each([
    [
      'a page',
      'src/shared/product/pages/order/order.tsx',
      `import { Late } from '../../../engine/late.tsx';
import { Link } from '../../../engine/link.tsx';
import type { PageProps } from '../../../engine/routes.ts';
import { Form } from '../../actions.ts';

export default ({ data }: PageProps<{ sum: Promise<number> }>) => (
  <Late value={data.sum}>{(sum) => <Link to="/">{sum} Late</Link>}</Late>
);
`,
      `import { Await, Link, type PageProps } from '#engine';
import { Form } from '../../actions.ts';

export default ({ data }: PageProps<{ sum: Promise<number> }>) => (
  <Await value={data.sum}>{(sum) => <Link to="/">{sum} Late</Link>}</Await>
);
`,
    ],
    [
      'a server half',
      'src/server/product/pages/order.ts',
      `import { redirect } from '../../../shared/engine/outcome.ts';
import type { OrderData } from '../../../shared/product/pages/order/order.tsx';
import { invalid, type ServerPage } from '../../engine/pages/server-page.ts';
import type { AppContext } from '../context.ts';
`,
      `import { redirect } from '#engine';
import type { OrderData } from '#product/pages/order/order.tsx';
import { invalid, type ServerPage } from '#engine/server';
import type { AppContext } from '../context.ts';
`,
    ],
    [
      'a test',
      'tests/server/product/api/orders/router.test.ts',
      `import { ordersRouter as router } from '../../../../../src/server/product/api/orders/router.ts';
import { createTestApp } from '../../../../support/app.ts';
`,
      `import { ordersRouter as router } from '#product-server/api/orders/router.ts';
import { createTestApp } from '#engine/testing';
`,
    ],
    [
      'names that are not public',
      'src/server/product/steps.ts',
      `import { HttpError, methodNotAllowed } from '../engine/errors/http-error.ts';
const Late = 'mine';
`,
      `import { methodNotAllowed } from '../engine/errors/http-error.ts';
import { HttpError } from '#engine/server';
const Late = 'mine';
`,
    ],
  ])('rewrites %s, once', (_, path, before, after) => {
    expect(rewrite(path, before, find)).toBe(after);
    expect(rewrite(path, after, find)).toBe(after);
  });
});
