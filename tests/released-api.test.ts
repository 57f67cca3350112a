import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import request from 'supertest';
import { expect, it } from 'vitest';
import type { OpenApi } from '../src/server/engine/api/openapi.ts';
import { listBrokenPromises } from './support/broken-promises.ts';
import { createTestApp, readConfig } from './support/testing.ts';

const PATH = 'src/shared/product/api/released.json';
const file = fileURLToPath(new URL(`../${PATH}`, import.meta.url));

/** `npm run release:api` sets this, to write the document instead. */
const isRelease = process.env.SPILLWAY_RELEASE_API === '1';

/** Without a release, nothing was promised. */
it.runIf(isRelease || existsSync(file))('keeps what the last release of the API promised', async () => {
  const document = await readDocument();
  if (isRelease) return writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
  const broken = listBrokenPromises(JSON.parse(readFileSync(file, 'utf8')), document);
  if (broken.length > 0) expect.fail(describe(broken));
});

function describe(broken: readonly string[]): string {
  return `The API breaks what its last release promised:

${broken.map((sentence) => `  ${sentence}`).join('\n')}

Callers of the last release (${PATH}) rely on this. Keep it, and publish the change as a new field or under a new path, such as \`/api/v2\`. To break the promise on purpose, run \`npm run release:api\`.`;
}

/** Reads the document of the product, with the default settings. No service is opened, because no operation runs. */
async function readDocument(): Promise<OpenApi> {
  const { product } = await import('../src/server/product/index.ts');
  const settings = product.settings.read({}, readConfig({}));
  const api = product.api?.({ settings, services: createStandIn() as never });
  const { status, body } = await request(createTestApp({ api, apiDocument: product.apiDocument })).get(
    '/api/openapi.json',
  );
  if (status === 200) return body;
  throw new Error(
    `The API has no document: GET /api/openapi.json answers ${status}. Add an operation, and remove \`apiDocument: false\` from src/server/product/index.ts.`,
  );
}

/** A stand-in for the services and everything in them, so that the check needs no database. */
function createStandIn(): object {
  const standIn: object = new Proxy(() => undefined, {
    get: (_target, name) => (name === Symbol.toPrimitive ? () => '' : standIn),
    apply: () => standIn,
  });
  return standIn;
}
