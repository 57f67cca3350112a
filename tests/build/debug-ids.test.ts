import { expect, it } from 'vitest';
import { addDebugIds } from '../../build/debug-ids.mjs';

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/;

function filesOf(script: string) {
  const files = [
    { path: '/dist/main.js', contents: Buffer.from(script) },
    { path: '/dist/main.js.map', contents: Buffer.from('{"version":3,"mappings":""}') },
    { path: '/dist/logo.svg', contents: Buffer.from('<svg/>') },
    { path: '/dist/empty.js', contents: Buffer.from('') },
  ];
  return addDebugIds(files).map(({ contents }) => Buffer.from(contents).toString());
}

it('gives a script and its map the same id, which depends only on the script', () => {
  const [script = '', map = '{}', image, empty] = filesOf('export{};\n');
  const id = UUID.exec(script)?.[0];
  expect(script).toMatch(/^export\{\};\n/);
  expect(script).toMatch(new RegExp(`\\n//# debugId=${id}\\n$`));
  expect(JSON.parse(map)).toEqual({ debugId: id, debug_id: id, version: 3, mappings: '' });
  expect(filesOf('export{};\n')[0]).toBe(script);
  expect([image, empty]).toEqual(['<svg/>', '']);
  expect(filesOf('export{a};\n')[0]).not.toContain(id);
});
