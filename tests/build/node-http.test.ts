import { mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { expect, it, onTestFinished } from 'vitest';
import { nodeHttp } from '../../build/node-http.mjs';
import { createFolder } from '../support/folder.ts';

async function bundle(path: string, source: string) {
  const root = createFolder(onTestFinished);
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

it('is imported without the WebSocket client in files of the server, and unchanged in the product', async () => {
  const source = "import { createServer } from 'node:http'; export { createServer };";
  const server = await bundle('src/server/engine/a.ts', source);
  expect(server.text).not.toMatch(/from "node:http"|WebSocket/);
  expect(server.module.createServer).toBe(http.createServer);
  expect((await bundle('src/server/product/a.ts', source)).text).toMatch(/from "node:http"/);
});
