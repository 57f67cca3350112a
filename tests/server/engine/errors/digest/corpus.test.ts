import { describe, expect, it } from 'vitest';
import { createDigest } from '../../../../../src/server/engine/errors/digest/create-digest.ts';
import { readCorpus, type Sighting } from './read-corpus.ts';

/**
 * Safari's engine omits the frame of a function that ends in a tail call. Then nothing is left of the place that other
 * engines report.
 */
const SPLIT_BY_JSC = ['JSON.parse in a tail call', 'assertion in a tail call', 'reduce of an empty array'];

const sightings = readCorpus();
const groups = groupBy(sightings, digestOf);

function digestOf({ errors, table }: Sighting): string {
  return createDigest({ side: 'browser', errors, route: '/x' }, { namespace: 'n', table }).digest;
}

function groupBy(all: readonly Sighting[], toKey: (sighting: Sighting) => string): Map<string, Sighting[]> {
  return Map.groupBy(all, toKey);
}

function bugsIn(group: readonly Sighting[]): string[] {
  return [...new Set(group.map(({ bug }) => bug))];
}

/** Bugs that have more than one digest. */
function splitBugs(all: readonly Sighting[]): string[] {
  const byBug = groupBy(all, ({ bug }) => bug);
  return [...byBug].filter(([, seen]) => new Set(seen.map(digestOf)).size > 1).map(([bug]) => bug);
}

it('has enough bugs, for every engine and release', () => {
  expect(bugsIn(sightings).length).toBeGreaterThanOrEqual(40);
  expect([...groupBy(sightings, ({ engine, kind, release }) => `${engine} ${kind} ${release}`).keys()]).toHaveLength(
    16,
  );
});

it('gives no two bugs the same digest', () => {
  expect([...groups.values()].map(bugsIn).filter((bugs) => bugs.length > 1)).toEqual([]);
});

describe('one digest per bug', () => {
  const withoutJsc = sightings.filter(({ engine }) => engine !== 'jsc');

  it('in Node, Chromium and Firefox, in every build of both releases', () => {
    expect(splitBugs(withoutJsc)).toEqual([]);
  });

  it('in Safari, in every build of both releases', () => {
    expect(splitBugs(sightings.filter(({ engine }) => engine === 'jsc'))).toEqual([]);
  });

  it('in all engines, except for tail calls in Safari', () => {
    expect(splitBugs(sightings).sort()).toEqual(SPLIT_BY_JSC);
  });
});

it('finds the place in the source whenever the stack contains one', () => {
  const withoutPlace = sightings.filter(({ errors, table }) => {
    const hasFrames = errors.some(({ frames }) => frames.some(({ file }) => /^(?:client|server)\//.test(file)));
    const { site, kind } = createDigest({ side: 'browser', errors }, { namespace: 'n', table });
    return hasFrames && !site && kind === 'exception';
  });
  expect(bugsIn(withoutPlace)).toEqual([]);
});
