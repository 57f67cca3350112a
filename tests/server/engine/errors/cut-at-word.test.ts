import { expect, it } from 'vitest';
import { createFailureRecorder } from '../../../../src/server/engine/errors/create-failure.ts';
import { cutAtWord } from '../../../../src/server/engine/errors/cut-at-word.ts';
import { createFunnel } from '../../../../src/server/engine/errors/funnel.ts';
import { createScrubber } from '../../../../src/server/engine/errors/scrub.ts';
import { spyOnLog } from '../../../support/app.ts';

it('cuts at the end of a word, unless the word is too long', () => {
  expect(cutAtWord('one two', 7, 4)).toBe('one two');
  expect(cutAtWord('one two', 6, 4)).toBe('one ');
  expect(cutAtWord('one two', 3, 4)).toBe('');
  expect(cutAtWord('one\ntwo', 5, 4)).toBe('one\n');
  expect(cutAtWord('x'.repeat(100), 50, 10)).toHaveLength(40);
});

it('leaves no half of a secret, wherever a message is cut', () => {
  const secret = 'quitesecretwithoutanydigit';
  const scrubber = createScrubber({ literals: [secret] });
  const { log, lines } = spyOnLog();
  const { fail } = createFunnel({ log, build: 'b', scrubber });
  const toFailure = createFailureRecorder({ build: 'b', scrubber });
  for (const length of [170, 190, 230, 240, 280, 295, 2030, 2045]) {
    const error = new Error(`${'a b '.repeat(600).slice(0, length)}${secret} and more`);
    expect(JSON.stringify(toFailure({ error }, { origin: 'loader' }).failure), String(length)).not.toContain('quite');
    fail(error, { origin: 'loader' });
  }
  expect(lines).toHaveLength(8);
  expect(JSON.stringify(lines)).not.toContain('quite');
});
