import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, expect, it } from 'vitest';
import { nodeHttp } from '../../build/node-http.mjs';

const root = mkdtempSync(join(tmpdir(), 'node-http-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function bundle(path: string, source: string) {
  const entry = join(root, path);
  mkdirSync(dirname(entry), { recursive: true });
  writeFileSync(entry, source);
  const outfile = join(root, 'out', `${path}.mjs`);
  const { outputFiles } = await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    plugins: [nodeHttp(root)],
    write: false,
  });
  const text = outputFiles[0]?.text ?? '';
  mkdirSync(dirname(outfile), { recursive: true });
  writeFileSync(outfile, text);
  return { text, module: await import(pathToFileURL(outfile).href) };
}

it('is imported without the WebSocket client in files of the server, and has the same exports', async () => {
  const { text, module } = await bundle(
    'src/server/engine/a.ts',
    "import { createServer, ServerResponse } from 'node:http'; export { createServer, ServerResponse };",
  );
  expect(text).not.toMatch(/from "node:http"|WebSocket/);
  expect(module.createServer).toBe(http.createServer);
  expect(module.ServerResponse).toBe(http.ServerResponse);
});

it('is imported unchanged in the product', async () => {
  const { text, module } = await bundle(
    'src/server/product/a.ts',
    "import { WebSocket } from 'node:http'; export { WebSocket };",
  );
  expect(text).toMatch(/from "node:http"/);
  expect(module.WebSocket).toBe(http.WebSocket);
});
