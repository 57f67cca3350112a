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
    [
      'what a page calls',
      'src/shared/product/pages/order/order.tsx',
      `import { Form, useActionOutcome } from '../../actions.ts';

export default function Order() {
  const outcome = useActionOutcome('order.pay');
  return <Form action="order.pay">{outcome?.errors?.sum}</Form>;
}
`,
      `import { Form, useActionResult } from '../../actions.ts';

export default function Order() {
  const outcome = useActionResult('order.pay');
  return <Form action="order.pay">{outcome?.errors?.sum}</Form>;
}
`,
    ],
    [
      'what the engine no longer hands out',
      'src/shared/product/pages/order/order.tsx',
      `import { Form } from '../../../engine/form.tsx';
import { useActionOutcome, useData } from '../../../engine/hooks.ts';

const outcome = useActionOutcome('order.pay');
`,
      `import { Form, useActionResult } from '../../actions.ts';
import { useData } from '#engine';

const outcome = useActionResult('order.pay');
`,
    ],
    [
      'the table of actions',
      'src/shared/product/actions.ts',
      `import { createActionUses } from '../engine/actions.ts';

export const { Form, useActionOutcome, submitAs } = createActionUses<Actions>();
`,
      `import { createActionUses } from '#engine';

export const { Form, useActionResult, submitAs } = createActionUses<Actions>();
`,
    ],
    [
      'what a guard shares',
      'src/server/product/require-user.ts',
      `import { oncePerVisit } from '../engine/pages/once-per-visit.ts';

export const requireUser = oncePerVisit(
  ({ context }) => context.user,
);
`,
      `import { oncePerRequest } from '#engine/server';

export const requireUser = oncePerRequest(
  ({ context }) => context.user,
);
`,
    ],
    [
      'settings and reporting',
      'src/server/product/settings.ts',
      `import { type Config, parsed } from '../config.ts';
import type { OwnersReporting } from '../engine/owners-files.ts';

export const reporting: OwnersReporting = {};
`,
      `import type { Config } from '../config.ts';
import { parsed, type ProductReporting } from '#engine/server';

export const reporting: ProductReporting = {};
`,
    ],
  ])('rewrites %s, once', (_, path, before, after) => {
    expect(rewrite(path, before, find)).toBe(after);
    expect(rewrite(path, after, find)).toBe(after);
  });
});
