import { expect, it } from 'vitest';
import { createDigest } from '../../../../src/server/errors/digest/create-digest.ts';
import { readCorpus, type Sighting } from './read-corpus.ts';

/**
 * Safari's engine omits the frame of a function that ends in a tail call. Then nothing is left of the place that other
 * engines report.
 */
const SPLIT_BY_JSC = ['JSON.parse in a tail call', 'assertion in a tail call', 'reduce of an empty array'];

const sightings = readCorpus().map((sighting) => {
  const { errors, table } = sighting;
  const result = createDigest({ side: 'browser', errors, route: '/x' }, { namespace: 'n', table });
  return { ...sighting, result };
});

const bugsIn = (group: readonly Pick<Sighting, 'bug'>[]) => [...new Set(group.map(({ bug }) => bug))];

/** Bugs that have more than one digest. */
function splitBugs(all: typeof sightings) {
  const byBug = [...Map.groupBy(all, ({ bug }) => bug)];
  return byBug.filter(([, seen]) => new Set(seen.map(({ result }) => result.digest)).size > 1).map(([bug]) => bug);
}

it('has enough bugs, for every engine and release', () => {
  expect(bugsIn(sightings).length).toBeGreaterThanOrEqual(40);
  expect(new Set(sightings.map(({ engine, kind, release }) => `${engine} ${kind} ${release}`)).size).toBe(16);
});

it('gives no two bugs the same digest', () => {
  const groups = [...Map.groupBy(sightings, ({ result }) => result.digest).values()];
  expect(groups.map(bugsIn).filter((bugs) => bugs.length > 1)).toEqual([]);
});

it.each([
  ['Node, Chromium and Firefox', ({ engine }: Sighting) => engine !== 'jsc', []],
  ['Safari', ({ engine }: Sighting) => engine === 'jsc', []],
  ['all engines, except for tail calls in Safari', () => true, SPLIT_BY_JSC],
])('gives each bug one digest in %s, in every build of both releases', (_engines, isIn, split) => {
  expect(splitBugs(sightings.filter(isIn)).sort()).toEqual(split);
});

it('finds the place in the source whenever the stack contains one', () => {
  const withoutPlace = sightings.filter(({ errors, result: { location, kind } }) => {
    const hasFrames = errors.some(({ frames }) => frames.some(({ file }) => /^(?:client|server)\//.test(file)));
    return hasFrames && !location && kind === 'exception';
  });
  expect(bugsIn(withoutPlace)).toEqual([]);
});
