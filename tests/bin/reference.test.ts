import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { writeReference } from '../../bin/reference.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

it('docs/reference.md is up to date', () => {
  const text = readFileSync(new URL('../../docs/reference.md', import.meta.url), 'utf8');
  expect(text === writeReference(root), 'docs/reference.md is outdated. Run `npm run reference`.').toBe(true);
  expect(text).toContain('## #engine/testing\n');
  expect(text).toContain('| `Link` | A link within the site.');
});
