import { compileFunction } from 'node:vm';
import { transform } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { createMapReader } from '../../../../../src/desk/server/worker/maps/map-reader.ts';
import type { StackFrame } from '../../../../../src/server/errors/failure.ts';
import { createFailure } from '../../../support/desk.ts';

const withFrames = (frames: readonly StackFrame[], build = 'build-1') =>
  createFailure({ build, errors: [{ class: 'RangeError', message: '', frames }] });

describe('the map reader', () => {
  it('returns the line of the accessed property, even if a minifier joined two lines', async () => {
    const source = 'export function show(page) {\n  const target = page.find("share");\n  target.scroll();\n}\n';
    const options = { minify: true, sourcemap: 'external', format: 'cjs', sourcefile: 'src/share.ts' } as const;
    const { code, map } = await transform(source, options);
    const script = { exports: {} as { show?: (page: object) => void } };
    let error = new Error();
    try {
      compileFunction(code, ['module', 'exports'], { filename: 'share.js' })(script, script.exports);
      script.exports.show?.({ find: () => null });
    } catch (thrown) {
      error = thrown as Error;
    }
    const [, line, column] = /share\.js:(\d+):(\d+)/.exec(error.stack ?? '') ?? [];
    const frame = { file: 'client/assets/share.js', line: Number(line), column: Number(column), function: 'show' };
    const maps = createMapReader({ readMap: async () => ({ path: 'maps/client/assets/share.js.map', text: map }) });
    const stored = await maps.resolve(withFrames([frame]));
    expect(stored.resolved?.[0]?.[0]).toMatchObject({ line: 3, column: 10 });
  });

  it('counts a view as a file of the app', async () => {
    const maps = createMapReader({ readMap: async () => undefined });
    const files = ['legacy/views/cart.ejs', 'server/views/cart.pug', 'node_modules/mailer/a.ejs', '../cart.ejs'];
    const stored = await maps.resolve(withFrames(files.map((file) => ({ file, line: 3, column: 1, function: '' }))));
    expect(stored.resolved?.[0]?.map(({ own }) => own)).toEqual([true, true, false, false]);
  });

  it.each([
    ['a map', '{"broken'],
    ['one that fits in memory', `{"version":3,"sources":["a.ts"],"mappings":"${'AAAA,'.repeat(1_700_000)}"}`],
  ])('does not change frames without %s', async (_what, text) => {
    const maps = createMapReader({ readMap: async () => ({ path: 'maps/server/main.js.map', text }) });
    const frames = [
      { file: 'server/main.js', line: 1, column: 1, function: 'a' },
      { file: 'node:fs', line: 1, column: 1, function: 'b' },
      { file: 'client/../../../etc/passwd.js', line: 1, column: 1, function: 'c' },
      { file: '', line: 0, column: 0, function: '' },
    ];
    const stored = await maps.resolve(withFrames(frames));
    expect(stored.resolved?.[0]).toEqual(frames.map((frame) => ({ ...frame, own: false })));
  });
});
