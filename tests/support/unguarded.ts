import { createFailureMaker } from '../../src/server/errors/create-failure.ts';
import type { ScrubPath } from '../../src/server/errors/scrub/secret-path.ts';
import type { Scrubber } from '../../src/server/errors/scrub.ts';

// Guards are required dependencies. Tests about something else pass one of these.

/** Changes nothing. */
export const noScrubber: Scrubber = {
  text: (text) => text,
  url: (url) => url,
  value: (value) => value,
  with: () => noScrubber,
  forReport: () => noScrubber,
  hides: () => false,
  hidesInQuery: () => false,
};

/** Changes no path. */
export const noPathScrubber: ScrubPath = (path) => path;

/** Makes failures of the build `test`. */
export const testMaker = createFailureMaker({ build: 'test' }, { scrubber: noScrubber });
