import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openMadeSqlite } from '../../../src/server/desk/store/sqlite.ts';
import { openMadeStore } from '../../../src/server/desk/store/store.ts';
import { openTestDesk } from '../../support/desk.ts';
import { createFolder } from '../../support/folder.ts';

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
