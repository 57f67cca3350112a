import { expect, it } from 'vitest';
import { findCommit } from '../../../../src/desk/server/store/find-commit.ts';

const FILE = 'src/server/product/pages/cart.ts';

/** @param hash also the subject */
function commitOf(hash: string, ...lines: [number, number][]) {
  return { hash, author: 'Ada', at: 1, subject: hash, lines: { [FILE]: lines } };
}

/**
 * Finds the commit for a failure that began in the release v2 and happens in the last one.
 *
 * @param commits of each release, newest first
 */
function find(commits: Readonly<Record<string, object[]>>, ...lines: (number | { file: string; line: number })[]) {
  const deployments = Object.keys(commits).map((id) => ({ id, release: id, firstAt: 1 }));
  return findCommit(
    { readBuildFile: async (build) => Buffer.from(JSON.stringify(commits[build])) },
    {
      build: deployments.at(-1)?.id ?? '',
      lines: lines.map((line) => (typeof line === 'number' ? { file: FILE, line } : line)),
      releases: [{ release: 'v2', build: 'v2', firstAt: 1, lastAt: 1, count: 1 }],
      deployments: deployments.toReversed(),
    },
  );
}

it('the likely commit is the latest of the release that changed a line, the most important line first', async () => {
  const old = commitOf('old', [1, 99]);
  const added = [commitOf('far', [50, 60]), commitOf('near', [40, 41]), commitOf('first', [41, 41], [7, 7]), old];
  const both = { v1: [old], v2: added };
  const near = { hash: 'near', author: 'Ada', at: 1, subject: 'near', file: FILE, line: 41 };
  expect(await find(both, 41, 55)).toEqual(near);
  expect(await find(both, 3, 7, 55)).toMatchObject({ hash: 'first', line: 7 });
  // Only a commit of an earlier release changed this line.
  expect(await find(both, 3)).toBeUndefined();
  // It is one of the release in which the incident began.
  expect(await find({ ...both, v3: [commitOf('later', [41, 41]), ...added] }, 41)).toMatchObject({ hash: 'near' });
});

it('no commit is likely if the list lacks the folder of the line that threw, as of a linked package', async () => {
  const both = { v1: [commitOf('old')], v2: [commitOf('caller', [7, 7]), commitOf('old')] };
  expect(await find(both, { file: 'packages/domain/src/stock.ts', line: 8 }, 7)).toBeUndefined();
  // The caller can be to blame for a failure in a file that did not change.
  expect(await find(both, { file: 'src/shared/product/price.ts', line: 8 }, 7)).toMatchObject({ line: 7 });
});
