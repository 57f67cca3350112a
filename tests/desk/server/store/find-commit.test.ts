import { zstdCompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { findCommit } from '../../../../src/desk/server/store/find-commit.ts';
import type { Store } from '../../../../src/desk/server/store/store.ts';
import { until } from '../../../support/until.ts';
import { fullOf, ingest, useMemoryStore } from '../../support/stores.ts';

const KEY = '7K3QM2XA@production';
const FILE = 'src/server/product/pages/cart.ts';

/** @param hash also the subject */
function commitOf(hash: string, ...lines: [number, number][]) {
  return { hash, author: 'Ada', at: 1, subject: hash, lines: { [FILE]: lines } };
}

/** Starts a build, whose commits are listed newest first, and lets a failure happen in it. */
async function deploy(store: Store, build: string, commits: object[], hasFailed = true): Promise<void> {
  await store.builds.useBuild({ id: build, release: build });
  const packed = zstdCompressSync(JSON.stringify(commits));
  await store.builds.storeBuildFile(build, { path: 'commits.json', packed });
  if (hasFailed) await ingest(store, fullOf({ build, release: build, at: Date.now() }));
  const at = Date.now();
  await until(() => Date.now() > at + 1, 'the next millisecond'); // which orders builds and failures
}

const find = async (store: Store, build: string, ...lines: (number | { file: string; line: number })[]) =>
  findCommit(store.builds, {
    build,
    lines: lines.map((line) => (typeof line === 'number' ? { file: FILE, line } : line)),
    releases: await store.incidents.listReleases(KEY),
    deployments: await store.builds.listDeployments('production'),
  });

it('the likely commit is the latest of the release that changed a line, the most important line first', async () => {
  const { store } = await useMemoryStore();
  await deploy(store, 'v1', [commitOf('old', [1, 99])], false);
  const added = [commitOf('far', [50, 60]), commitOf('near', [40, 41]), commitOf('first', [41, 41], [7, 7])];
  await deploy(store, 'v2', [...added, commitOf('old', [1, 99])]);
  const near = { hash: 'near', author: 'Ada', at: 1, subject: 'near', file: FILE, line: 41 };
  expect(await find(store, 'v2', 41, 55)).toEqual(near);
  expect(await find(store, 'v2', 3, 7, 55)).toMatchObject({ hash: 'first', line: 7 });
  // Only a commit of an earlier release changed this line.
  expect(await find(store, 'v2', 3)).toBeUndefined();
  // It is one of the release in which the incident began.
  await deploy(store, 'v3', [commitOf('later', [41, 41]), ...added]);
  expect(await find(store, 'v3', 41)).toMatchObject({ hash: 'near' });
});

it('no commit is likely if the list lacks the folder of the line that threw, as of a linked package', async () => {
  const { store } = await useMemoryStore();
  await deploy(store, 'v1', [commitOf('old')], false);
  await deploy(store, 'v2', [commitOf('caller', [7, 7]), commitOf('old')]);
  expect(await find(store, 'v2', { file: 'packages/domain/src/stock.ts', line: 8 }, 7)).toBeUndefined();
  // The caller can be to blame for a failure in a file that did not change.
  expect(await find(store, 'v2', { file: 'src/shared/product/price.ts', line: 8 }, 7)).toMatchObject({ line: 7 });
});
