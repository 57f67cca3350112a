import { expect, it } from 'vitest';
import { toPageUrl } from '../../../../src/server/engine/pages/page-url.ts';
import { toDataUrl } from '../../../../src/shared/engine/wire/protocol.ts';

it.each([
  ['', '/', '/_data/'],
  ['', '/?page=2', '/_data/?page=2'],
  ['', '/orders/7?page=2', '/_data/orders/7?page=2'],
  ['/desk', '/desk', '/desk/_data'],
  ['/desk', '/desk?state=all', '/desk/_data?state=all'],
  ['/desk', '/desk/7K3QM2XA/9F4W0R6B', '/desk/_data/7K3QM2XA/9F4W0R6B'],
])('below "%s" the data of %s is at %s', (base, page, data) => {
  expect(toDataUrl(page, base)).toBe(data);
  expect(toPageUrl(data, base)).toBe(page);
});

it.each([
  ['', '/orders'],
  ['', '/_database'],
  ['', '/desk/_data'],
  ['/desk', '/desk/7K3QM2XA'],
  ['/desk', '/_data/desk'],
  ['/desk', '/desk/_database'],
])('below "%s" %s is not page data', (base, url) => {
  expect(toPageUrl(url, base)).toBeUndefined();
});
