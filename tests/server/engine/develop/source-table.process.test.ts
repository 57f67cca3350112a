import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { mapSource } from '../../../../build/existing-app.mjs';
import { createLocations } from '../../../../build/sites.mjs';
import { createSourceTable } from '../../../../src/server/engine/develop/source-table.ts';
import { createDigest } from '../../../../src/server/engine/errors/digest/create-digest.ts';
import { loadLocationTable } from '../../../../src/server/engine/errors/digest/load-location-table.ts';
import { parseLocationTable } from '../../../../src/server/engine/errors/digest/location-table.ts';
import { parseStack } from '../../../../src/server/engine/errors/digest/parse-stack.ts';
import type { StackFrame } from '../../../../src/server/engine/errors/failure.ts';
import { bundleProject } from '../../../support/bundled-project.ts';
import { createFolder } from '../../../support/folder.ts';

const FILES = {
  'src/cart.ts': `import { invariant } from './invariant.ts';

export const cart = {
  check(count: number): void {
    invariant(count > 0, 'The cart is empty.');
  },
};
`,
  'src/invariant.ts': `export function invariant(isTrue: boolean, message: string): void {
  if (!isTrue) throw new Error(message);
}
`,
  'src/main.ts': `import { cart } from './cart.ts';
export const fail = () => cart.check(0);
`,
};

function openDevelopment(root: string) {
  const devFolder = join(root, 'dist-dev');
  mkdirSync(devFolder);
  writeFileSync(join(devFolder, 'owner.json'), JSON.stringify({ helpers: [], moves: [] }));
  symlinkSync(fileURLToPath(new URL('../../../../build', import.meta.url)), join(root, 'build'));
  return {
    table: createSourceTable(devFolder),
    /** Runs the sources, whose positions are those of the source maps that Node applies in development. */
    failInSource(): StackFrame[] {
      const url = pathToFileURL(join(root, 'src/main.ts')).href;
      const script = `import('${url}').then((all) => all.fail()).catch((error) => process.stdout.write(error.stack))`;
      return parseStack(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' }), { dist: devFolder });
    },
  };
}

function digestOf(frames: readonly StackFrame[], table: ReturnType<typeof createSourceTable>) {
  const errors = [{ class: 'Error', message: 'The cart is empty.', frames: [...frames] }];
  return createDigest({ side: 'server', errors }, { namespace: 'n', table });
}

it.each([
  ['CRLF', '\r\n'],
  ['CR', '\r'],
  ['U+2028', '\u2028'],
  ['U+2029', '\u2029'],
])('has the same digest for each way to end a line: %s', async (_name, end) => {
  const body = '    // a line\n'.repeat(30);
  const source = `export const cart = {\n  before() {\n${body}  },\n  check(count: number): void {\n    if (count < 1) throw new Error('The cart is empty.');\n  },\n  after() {\n${body}  },\n};\n`;
  const found = [];
  for (const text of [source, source.replaceAll('\n', end)]) {
    const root = createFolder(onTestFinished);
    const { dist, fail } = await bundleProject(root, { ...FILES, 'src/cart.ts': text });
    const { table, failInSource } = openDevelopment(root);
    const unbundled = parseLocationTable(createLocations(root, [mapSource('src/cart.ts', text)]));
    const [thrower] = failInSource();
    found.push(
      digestOf(fail(), loadLocationTable(dist)),
      digestOf(failInSource(), table),
      digestOf(thrower ? [thrower] : [], unbundled),
    );
  }
  expect(found[0]?.site).toMatchObject({ path: 'src/cart.ts', function: 'cart.check' });
  expect(found).toEqual(found.map(() => found[0]));
});

it('gives a failure the digest of production, also after its file has changed', async () => {
  const root = createFolder(onTestFinished);
  const { dist, fail } = await bundleProject(root, FILES);
  const expected = digestOf(fail(), loadLocationTable(dist));
  expect(expected.site).toMatchObject({ path: 'src/cart.ts', function: 'cart.check' });

  const { table, failInSource } = openDevelopment(root);
  expect(digestOf(failInSource(), table)).toEqual(expected);

  writeFileSync(join(root, 'src/cart.ts'), `// A new line\n\n${FILES['src/cart.ts']}`);
  expect(digestOf(failInSource(), table)).toEqual(expected);
});
