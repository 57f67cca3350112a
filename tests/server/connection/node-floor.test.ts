import { expect, it } from 'vitest';
import { describeNodeFloor } from '../../../src/server/connection/node-floor.ts';

it.each(['24.22.1', '24.23.0', '26.12.1', '26.13.0', '27.0.0'])('a server with Node %s is fine', (version) => {
  expect(describeNodeFloor(version)).toBeUndefined();
});

it.each([
  ['24.22.0', '24.22.1'],
  ['24.9.9', '24.22.1'],
  ['26.10.0', '26.12.1'],
  ['26.12.0', '26.12.1'],
  ['25.9.0', '26.12.1'],
  ['20.20.2', '26.12.1'],
])('a server with Node %s is reported, with the version that fixes it', (version, mended) => {
  expect(describeNodeFloor(version)).toMatch(
    new RegExp(`^Node ${version.replaceAll('.', '\\.')} has .* Update to ${mended} if [^.]*\\.$`),
  );
});
