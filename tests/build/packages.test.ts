import { expect, it } from 'vitest';
import { listLoaded } from '../../build/packages.mjs';

const external = (path: string) => ({ path, kind: 'import-statement' as const, external: true });

it('lists the packages that are loaded at run time', () => {
  const metafile = {
    inputs: {},
    outputs: {
      'dist/server/main.js': {
        bytes: 1,
        exports: [],
        inputs: {
          'src/server/main.ts': { bytesInOutput: 1 },
          'node_modules/react/index.js': { bytesInOutput: 1 },
        },
        imports: [
          ...['node:fs', 'fs', './other.js', '/assets/a.js', 'https://example.com/a.js'].map(external),
          ...['pino', 'pino/file', '@scope/sharp/lib'].map(external),
          { path: 'react', kind: 'import-statement' as const },
        ],
      },
    },
  };
  expect(listLoaded([metafile])).toEqual(['@scope/sharp', 'pino']);
});
