import { expect, it } from 'vitest';
import { listPackages } from '../../build/packages.mjs';

const external = (path: string) => ({ path, kind: 'import-statement' as const, external: true });

it('distinguishes bundled packages from those loaded at run time', () => {
  const metafile = {
    inputs: {},
    outputs: {
      'dist/server/main.js': {
        bytes: 1,
        exports: [],
        inputs: {
          'src/server/main.ts': { bytesInOutput: 1 },
          'node_modules/react/index.js': { bytesInOutput: 1 },
          'node_modules/react/cjs/react.js': { bytesInOutput: 1 },
          '../elsewhere/node_modules/send/node_modules/@scope/ms/index.js': { bytesInOutput: 1 },
        },
        imports: [
          ...['node:fs', 'fs', './other.js', '/assets/a.js', 'https://example.com/a.js'].map(external),
          ...['pino', 'pino/file', '@scope/sharp/lib'].map(external),
          { path: 'react', kind: 'import-statement' as const },
        ],
      },
    },
  };
  expect(listPackages([metafile])).toEqual({
    bundled: ['node_modules/react', 'node_modules/send/node_modules/@scope/ms'],
    loaded: ['@scope/sharp', 'pino'],
  });
});
