import type { ScrubPath } from '../../src/server/engine/errors/scrub/secret-path.ts';
import type { Scrubber } from '../../src/server/engine/errors/scrub.ts';

// What protects is required. A test that is not about it names one of these.

/** Leaves everything as it is. */
export const noScrubber: Scrubber = {
  text: (text) => text,
  url: (url) => url,
  value: (value) => value,
  with: () => noScrubber,
  hides: () => false,
  hidesInQuery: () => false,
};

/** Leaves every path as it is. */
export const noPathScrubber: ScrubPath = (path) => path;
