import { readdirSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { expect, it } from 'vitest';
import { isInProduct, isProductCode, isYours } from '../../src/shared/whose-code.mjs';

it.each([
  ['src/server/product/index.ts', { inProduct: true, code: true, yours: true }],
  ['tests/product/failures/7K3QM2XA.test.ts', { inProduct: true, code: true, yours: true }],
  ['tests/support/product/index.ts', { inProduct: true, code: true, yours: false }],
  ['src/client/public/robots.txt', { inProduct: false, code: false, yours: true }],
  ['src/server/app.ts', { inProduct: false, code: false, yours: false }],
  ['src/desk/shared/product.ts', { inProduct: false, code: false, yours: false }],
  ['node_modules/pg/src/server/product/index.js', { inProduct: false, code: false, yours: false }],
])('%s', (path, expected) => {
  const found = { inProduct: isInProduct(path), code: isProductCode(path), yours: isYours(path) };
  expect(found).toEqual(expected);
});

/** Lint cannot call a function, so its rules for product code name the folders. */
it.each([
  ['noRestrictedImports', isInProduct],
  ['noNodejsModules', (path: string) => isInProduct(path) && /^src\/(?:shared|client)\//.test(path)],
])('the rule %s of biome.json applies to the product folders, and to nothing else', (rule, covers) => {
  const root = join(import.meta.dirname, '../..');
  const { overrides }: { overrides: { includes: string[] }[] } = JSON.parse(
    readFileSync(join(root, 'biome.json'), 'utf8'),
  );
  const globs = overrides.find((override) => JSON.stringify(override).includes(`"${rule}"`))?.includes ?? [];
  const files = ['src', 'tests'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
  );
  expect(files.filter((path) => globs.some((glob) => matchesGlob(path, glob)))).toEqual(files.filter(covers));
});
