import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import request from 'supertest';
import { expect, it } from 'vitest';
import type { OpenApi } from '../src/server/api/openapi.ts';
import { createTestSettings } from './support/product/test-settings.ts';
import { createTestApp, readConfig } from './support/testing.ts';

const OPERATIONS = 'src/shared/product/api/index.ts';
const operations = fileURLToPath(new URL(`../${OPERATIONS}`, import.meta.url));

it.runIf(existsSync(operations))('handles all operations that clients know', async () => {
  // By a path that the compiler does not follow, because an API of Express routers does not have this file.
  const { api } = (await import(operations)) as { api: object };
  const listed = Object.keys(api);
  if (listed.length === 0) return;
  const { paths } = await readDocument();
  const handled = new Set(
    Object.values(paths).flatMap((methods) => Object.values(methods).map((one) => one.operationId)),
  );
  const missing = listed.filter((name) => !handled.has(name));
  expect(missing, `These operations of ${OPERATIONS} have no handler. Return it from createApi().`).toEqual([]);
});

/** Reads the document of the product, with the settings of tests. No service is opened, because no operation runs. */
async function readDocument(): Promise<OpenApi> {
  const { product } = await import('../src/server/product/index.ts');
  const env = await createTestSettings();
  const settings = product.settings.read(env, readConfig(env));
  const api = product.api?.({ settings, services: createStandIn() as never });
  // Also if it is not served, or not to everybody.
  const apiDocument = product.apiDocument ? { ...product.apiDocument, auth: undefined } : undefined;
  const { status, body } = await request(createTestApp({ api, apiDocument })).get('/api/openapi.json');
  if (status === 200) return body;
  throw new Error(`GET /api/openapi.json answers ${status}, because the API has no operations. Add one.`);
}

/** A stand-in for the services and everything in them, so that the check needs no database. */
function createStandIn(): object {
  const standIn: object = new Proxy(() => undefined, {
    get: (_target, name) => (name === Symbol.toPrimitive ? () => '' : standIn),
    apply: () => standIn,
  });
  return standIn;
}
