import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../../../../src/desk/server/store/store.ts';
import { publishBuild } from '../../../../../src/desk/server/worker/maps/publish-build.ts';
import { createFolder } from '../../../../support/folder.ts';
import { useMemoryStore } from '../../../support/stores.ts';

const MAP = 'maps/server/main.js.map';

it('replaces the maps of a server that was rebuilt, also if it is interrupted', async () => {
  const dist = createFolder(onTestFinished);
  const { store } = await useMemoryStore();
  const build = (text: string) => {
    for (const path of ['sites.json', MAP, 'client/assets/home-X7K2QM2X.js']) {
      mkdirSync(dirname(join(dist, path)), { recursive: true });
      writeFileSync(join(dist, path), text);
    }
  };
  const publish = async (used: Store) => {
    await publishBuild((work) => work(used), { build: 'build-1', release: 'v1', dist });
  };
  build('first');
  await publish(store);
  build('second');
  const ending: Store = {
    ...store,
    builds: {
      ...store.builds,
      storeBuildFile: (id, file) =>
        file.path === MAP ? Promise.reject(new Error('The end.')) : store.builds.storeBuildFile(id, file),
    },
  };
  await expect(publish(ending)).rejects.toThrow('The end.');
  await publish(store);
  expect(String(await store.builds.readBuildFile('build-1', MAP))).toBe('second');
});
