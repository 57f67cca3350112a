import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { openMadeSqlite } from '../../../src/server/desk/store/sqlite.ts';
import { openMadeStore } from '../../../src/server/desk/store/store.ts';
import { createDigest } from '../../../src/server/engine/errors/digest/create-digest.ts';
import { parseLocationTable } from '../../../src/server/engine/errors/digest/location-table.ts';
import { toAddress } from '../../../src/server/engine/errors/failure.ts';
import { bundleProject } from '../../support/bundled-project.ts';
import { createFailure, openTestDesk } from '../../support/desk.ts';
import { createFolder } from '../../support/folder.ts';

const source = `export function fail(): void {
  throw new Error('from an earlier build');
}
`;

function write(path: string, text: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Reads a file of a build from the store, as another replica would. */
async function readBuildFile(dataDir: string, build: string, path: string): Promise<string | undefined> {
  const store = await openMadeStore(openMadeSqlite(join(dataDir, 'desk.sqlite')), { environment: 'test' });
  const bytes = await store?.readBuildFile(build, path).finally(() => store.close());
  return bytes && Buffer.from(bytes).toString();
}

it('serves the assets of an earlier build and resolves its errors', async () => {
  const dataDir = createFolder(onTestFinished);
  const { dist, fail } = await bundleProject(createFolder(onTestFinished), { 'src/main.ts': source });
  write(join(dist, 'client/assets/home-X7K2QM2X.js'), 'export const a = 1;');
  write(join(dist, 'client/assets/home-X7K2QM2X.js.br'), 'compressed');
  write(join(dist, 'client/assets/about-X7K2QM2X.js'), 'export const b = 2;');
  write(
    join(dist, 'client/assets/about-X7K2QM2X.js.zst'),
    zstdCompressSync('export const b = 2; // as the build packed it'),
  );
  const sites = readFileSync(join(dist, 'sites.json'), 'utf8');
  const frames = fail();
  const old = await openTestDesk({ dataDir, dist, build: 'old' });
  await expect.poll(() => readBuildFile(dataDir, 'old', 'sites.json'), { timeout: 10_000 }).toBeDefined();
  await old.close();
  rmSync(dist, { recursive: true });

  const desk = await openTestDesk({ dataDir, dist, build: 'new' });
  onTestFinished(() => desk.close());
  const file = await desk.findOldAsset('/assets/home-X7K2QM2X.js');
  expect(Buffer.from(file ?? []).toString()).toBe('export const a = 1;');
  const packed = await desk.findOldAsset('/assets/about-X7K2QM2X.js');
  expect(Buffer.from(packed ?? []).toString()).toBe('export const b = 2; // as the build packed it');
  expect(await desk.findOldAsset('/assets/none-X7K2QM2X.js')).toBeUndefined();
  expect(await readBuildFile(dataDir, 'old', 'client/assets/home-X7K2QM2X.js.br')).toBeUndefined();
  expect((await desk.calls.listBuilds()).map(({ id }) => id)).toContain('old');

  // A tab of the earlier build reports these. The new build knows nothing of its bundles.
  const errors = [{ class: 'Error', message: 'from an earlier build', frames }];
  const failure = createFailure({ build: 'old', side: 'browser', unresolved: true, weak: true, errors });
  desk.journal(failure);
  const found = await desk.calls.find(toAddress(failure));
  const table = parseLocationTable(sites);
  const { site, ...made } = createDigest({ side: 'browser', errors }, { namespace: 'test', table });
  expect(found?.incident).toMatchObject({
    ...made,
    location: { ...site, path: 'src/main.ts', function: 'fail' },
    weak: false,
  });
  expect(found?.occurrence?.full?.resolved?.[0]?.[0]).toMatchObject({
    file: 'src/main.ts',
    line: 2,
    function: 'fail',
    own: true,
    context: { start: 1, lines: source.split('\n') },
  });
});

it('stores the source maps again if only the server was rebuilt', async () => {
  const dataDir = createFolder(onTestFinished);
  const dist = createFolder(onTestFinished);
  for (const version of ['one', 'two', 'two']) {
    write(join(dist, 'sites.json'), `{"version":1,"of":"${version}"}`);
    write(join(dist, 'maps/server/main.js.map'), `{"of":"${version}"}`);
    const desk = await openTestDesk({ dataDir, dist, build: 'same' });
    const read = () => readBuildFile(dataDir, 'same', 'maps/server/main.js.map');
    await expect.poll(read, { timeout: 10_000 }).toBe(`{"of":"${version}"}`);
    await desk.close();
  }
});
