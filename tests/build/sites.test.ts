import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadLocationTable } from '../../src/server/errors/digest/location-table.ts';

const dist = fileURLToPath(new URL('../../dist', import.meta.url));
const table = loadLocationTable(dist);

/** The frame location of `text` in a bundle. */
function siteOf(file: string, text: string) {
  const before = readFileSync(`${dist}/${file}`, 'utf8').split(text, 1)[0] ?? '';
  const lines = before.split('\n');
  return table.find({ file, line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1, function: '' });
}

describe('the frame locations of the production build', () => {
  it('include throws in the server', () => {
    expect(siteOf('server/site.js', 'The manifest names an entry')).toMatchObject({
      path: 'src/server/pages/render/write-document.ts',
      function: 'toEntryScripts',
      detail: expect.stringMatching(/^throw new Error\(/),
      owner: 'engine',
      kind: 'thrown',
    });
  });

  it('name the package of a dependency', () => {
    expect(siteOf('server/site.js', 'function createApplication()')).toMatchObject({
      path: 'node_modules/express',
      owner: 'dependency',
    });
  });

  it('cover every browser script, and no other file', () => {
    const { entry, routes } = JSON.parse(readFileSync(`${dist}/manifest.json`, 'utf8'));
    const scripts = [entry, ...Object.values<{ script: string }>(routes)].map(({ script }) => `client${script}`);
    expect(scripts.filter((script) => !table.has(script))).toEqual([]);
    expect(table.has('client/assets/other.js')).toBe(false);
  });
});
