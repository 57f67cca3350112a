import { expect, it } from 'vitest';
import { createLocations } from '../../../build/locations.mjs';
import { parseLocationTable } from '../../../src/server/errors/digest/location-table.ts';

it('tells the server which functions only throw on behalf of their callers', () => {
  const source = 'function assertDefined() { throw new Error(); }\nfunction check() { throw new Error(); }\n';
  const map = {
    version: 3,
    sources: ['../../src/server/product/cart.ts'],
    sourcesContent: [source],
    // Each line of the bundle maps to the same line of the source.
    mappings: 'AAAA;AACA',
  };
  const sites = createLocations('/app', [{ path: 'maps/server/main.js.map', contents: JSON.stringify(map) }]);
  const table = parseLocationTable(sites);
  const find = (line: number) =>
    table.find({ file: 'server/main.js', line, column: source.indexOf('throw') + 1, function: '' });
  expect([find(1), find(2)]).toMatchObject([
    { path: 'src/server/product/cart.ts', isHelper: true },
    { path: 'src/server/product/cart.ts', isHelper: false },
  ]);
});
