import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

it('adds at most 1.75 KB to a page', async () => {
  const { outputFiles } = await build({
    stdin: { contents: "export { createClient } from './src/shared/api/client.ts'", resolveDir: '.' },
    bundle: true,
    minify: true,
    format: 'esm',
    write: false,
  });
  expect(gzipSync(outputFiles[0]?.contents ?? '').length).toBeLessThanOrEqual(1792);
});
