import { expect, it } from 'vitest';
import { toHint } from '../../../src/shared/desk/words.ts';

it.each([
  ['csp', 'Policy violation: require-trusted-types-for trusted-types-sink', 'docs/recipes/html.md'],
  ['csp', 'Policy violation: script-src-elem evil.example', 'nonce'],
  ['csp', 'Policy violation: img-src cdn.example', 'contentSources'],
  ['exception', 'Error: img-src', undefined],
] as const)('an incident of the kind %s with the title "%s" has its hint', (kind, title, words) => {
  const hint = toHint({ kind, title });
  if (words === undefined) expect(hint).toBeUndefined();
  else expect(hint).toContain(words);
});
