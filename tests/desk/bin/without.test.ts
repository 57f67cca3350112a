import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { planWithout } from '../../../bin/own/without.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const paths = [
  ...['bench', 'bin', 'build', 'docs', 'src', 'templates', 'tests'].flatMap(listFiles),
  'build.mjs',
  'README.md',
];
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const plan = planWithout('desk', { paths, read });

function listFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length).replaceAll('\\', '/'));
}

/** These say whose code a folder is, whether it exists or not. */
const KNOWN = new Set([
  'src/shared/whose-code.mjs',
  'tests/architecture.test.ts',
  'tests/server/errors/digest/location-table.test.ts',
]);

const isOfTour = (path: string) => /^(?:src|tests)\/[^/]+\/product\//.test(path);

it('leaves no mention of the desk in src, tests and the build', () => {
  const left = paths
    .filter(
      (path) =>
        /^(?:src|tests|build)[./]/.test(path) && !isOfTour(path) && !KNOWN.has(path) && !plan?.removed.has(path),
    )
    .filter((path) => /desk/i.test(path) || /desk/i.test(plan?.written.get(path) ?? read(path)));
  expect(
    left.map(
      (path) =>
        `${path} mentions the desk, which apps can do without. Move it into a folder named desk, word it in a more general way, or put the lines between "// #region desk" and "// #endregion desk" and list the file in templates/without-desk/removal.json.`,
    ),
  ).toEqual([]);
});

it('removes no source outside of its rooms, and no file of your tests', () => {
  const rooms = /\/desk\//;
  const removed = [...(plan?.removed ?? [])];
  expect(removed.filter((path) => path.startsWith('src/') && !rooms.test(path))).toEqual([]);
  expect(removed.filter((path) => path.startsWith('tests/support/product/'))).toEqual([]);
  expect(removed.length).toBeGreaterThan(200);
});

it('lists the files with marked regions, and replaces files that exist', () => {
  const marked = paths.filter(
    (path) =>
      /^(?:src|tests|build|bench)\//.test(path) && !path.includes('/desk/') && read(path).includes('#region desk'),
  );
  expect([...(plan?.removal.regions ?? [])].sort()).toEqual(marked.sort());
  const own = ['tests/server/destination.test.ts'];
  const added = listFiles('templates/without-desk/files')
    .map((path) => path.slice('templates/without-desk/files/'.length))
    .filter((path) => !own.includes(path) && path !== 'compose.yaml');
  expect(added.filter((path) => !paths.includes(path))).toEqual([]);
});
