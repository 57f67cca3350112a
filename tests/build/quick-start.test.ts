import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import type Express from 'express';
import request from 'supertest';
import { expect, it, onTestFinished } from 'vitest';
import { quickStart } from '../../build/quick-start.mjs';
import { createFolder } from '../support/folder.ts';

const types: Plugin = {
  name: 'types',
  setup({ onLoad }) {
    onLoad({ filter: /mime-db[\\/]index\.js$/ }, () => ({
      contents: `globalThis.hasTypes = true; module.exports = { 'text/html': { extensions: ['html'] } };`,
    }));
  },
};

it('loads packages of Express only when a handler uses them', async () => {
  const outfile = join(createFolder(onTestFinished), 'bundle.mjs');
  await build({
    stdin: { contents: `export { default } from 'express';`, resolveDir: import.meta.dirname },
    ...{ outfile, bundle: true, format: 'esm', platform: 'node', plugins: [quickStart(import.meta.dirname), types] },
    banner: { js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);` },
  });
  const { default: express } = (await import(pathToFileURL(outfile).href)) as { default: typeof Express };
  const app = express().set('query parser', 'extended');
  app.get('/', (req, res) => void res.type('html').send(JSON.stringify(req.query)));
  app.post('/', express.json(), (req, res) => void res.json(req.body));
  app.post('/text', express.text(), (req, res) => void res.json(req.body));
  const server = createServer(app);
  expect('hasTypes' in globalThis).toBe(false);
  const page = await request(server).get('/?a[b]=1');
  expect([page.type, page.text]).toEqual(['text/html', '{"a":{"b":"1"}}']);
  expect('hasTypes' in globalThis).toBe(true);
  expect((await request(server).post('/').send({ n: 1 })).body).toEqual({ n: 1 });
  const post = (charset: string) => request(server).post('/text').type(`text/plain; charset=${charset}`).send('é');
  expect((await post('windows-1251')).body).toBe('Г©');
  expect((await post('morse')).status).toBe(415);
});
