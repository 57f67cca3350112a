import { cpSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { faults, SHOWN } from './faults.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Everything in a clone but its docs. The product comes from the smallest app, and from the faults. */
const COPIED = [
  'src',
  'build',
  'build.mjs',
  'bin',
  'package.json',
  'moves.json',
  'vitest.config.ts',
  'tsconfig.json',
  'tsconfig.base.json',
  'tests/support',
  'tests/e2e/site.ts',
];
const PRODUCT = /[\\/]src[\\/](?:shared|client|server)[\\/]product(?:[\\/]|$)/;

/** Copies the project to a new folder, without the tour. */
export function copyProject() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-failing-')));
  for (const path of COPIED) {
    cpSync(join(root, path), join(folder, path), { recursive: true, filter: (from) => !PRODUCT.test(from) });
  }
  cpSync(join(root, 'tests/fixtures/app/src'), join(folder, 'src'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/**
 * Writes the product with all faults, or without any.
 *
 * @param {string} folder
 * @param {{ isBroken: boolean, otherServer: string, closedServer: string }} options
 */
export function writeProduct(folder, { isBroken, otherServer, closedServer }) {
  const fill = (fault, code) =>
    code
      .replaceAll('FAULT', () => fault[isBroken ? 'broken' : 'fixed'])
      .replaceAll('OTHER_SERVER', otherServer)
      .replaceAll('CLOSED_SERVER', closedServer);
  const write = (path, text) => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  const one = (id) => faults.find((fault) => fault.id === id);
  const pages = faults.filter(({ view, server }) => view || server);
  const apis = faults.filter(({ api }) => api);

  for (const fault of faults) {
    const { top = '', ...files } = fault.files ?? {};
    for (const [path, code] of Object.entries(files)) write(path, fill(fault, code));
    if (fault.view || fault.server) {
      write(
        `src/shared/product/pages/${fault.id}.tsx`,
        `import { useEffect, useState } from 'react';\nimport { Await } from '#engine';\n\n${fill(fault, fault.view ?? SHOWN)}\n`,
      );
    }
    if (fault.server) {
      write(
        `src/server/product/pages/${fault.id}.ts`,
        `${top}\nexport const ${fault.id}Page = {\n  ${fill(fault, fault.server)},\n};\n`,
      );
    }
    if (fault.api) {
      write(
        `src/server/product/api/${fault.id}.ts`,
        `import { jsonBody } from '#engine/server';\n\nexport function ${fault.id}Api(router) {\n  ${fill(fault, fault.api)}\n}\n`,
      );
    }
  }
  const routes = pages.map(
    ({ id, path = `/${id}`, mode }) =>
      `{ id: '${id}', path: '${path}', ${mode ? `mode: '${mode}', ` : ''}page: () => import('./pages/${id}.tsx') },`,
  );
  write(
    'src/shared/product/routes.tsx',
    `import { defineRoutes } from '#engine';\nexport const routes = defineRoutes([\n  { id: 'home', path: '/', page: () => import('./pages/home/home.tsx') },\n  ${routes.join('\n  ')}\n]);\n`,
  );
  write(
    'src/shared/product/pages/home/home.tsx',
    `import { Link } from '#engine';\nexport default function Home() {\n  return <main><h1>Home</h1><Link to="/journey">journey</Link></main>;\n}\n`,
  );
  const halves = pages.filter(({ server }) => server);
  write(
    'src/server/product/pages/index.ts',
    `${halves.map(({ id }) => `import { ${id}Page } from './${id}.ts';`).join('\n')}\nexport const pages = {\n  home: null,\n  ${pages.map(({ id, server }) => `${id}: ${server ? `${id}Page` : 'null'},`).join('\n  ')}\n};\n`,
  );
  write(
    'src/server/product/api/index.ts',
    `import { Router } from 'express';\n${apis.map(({ id }) => `import { ${id}Api } from './${id}.ts';`).join('\n')}\n\nexport function createApi() {\n  const router = Router();\n  ${apis.map(({ id }) => `${id}Api(router);`).join('\n  ')}\n  return [router];\n}\n`,
  );
  write(
    'src/server/product/services.ts',
    fill(
      { broken: one('service').broken, fixed: one('service').fixed },
      `import { createConnection } from 'node:net';
import { once } from 'node:events';

const queue = [];

/** Opens a connection to a database. */
async function connect(port) {
  const socket = createConnection({ port, host: '127.0.0.1' });
  await once(socket, 'connect');
  return [];
}

export const services = {
  open() {
    if (process.env.RUN_JOB) setTimeout(() => void work(), 300);
    return { database: { list: async () => FAULT } };
  },
};

async function work() {
  await Promise.resolve();
  ${fill(one('job'), 'FAULT')};
}
`,
    ),
  );
  write(
    'src/server/product/index.ts',
    `import { Router } from 'express';
import { defineProduct } from '#engine/server';
import { createApi } from './api/index.ts';
import { pages } from './pages/index.ts';
import { services } from './services.ts';
import { settings } from './settings.ts';

function decodeStep(req, _res, next) {
  if (typeof req.query.step === 'string') req.step = ${fill(one('step'), 'FAULT')};
  next();
}

function sendFeed(_req, res) {
  const entries = [];
  res.type('xml').send('<feed>' + ${fill(one('feed'), 'FAULT')} + '</feed>');
}

export const product = defineProduct({
  settings,
  services,
  pages,
  api: createApi,
  steps: () => [decodeStep],
  routes: () => Router().get('/feed.xml', sendFeed),
  reporting: { keep: ['quantity', 'currency'] },
});
`,
  );
}
