import fc from 'fast-check';
import { expect, it } from 'vitest';
import { spellPath } from '../../../src/server/request/paths.ts';

const PIECES =
  '/ // . .. %2e %2E %2f %5c \\ ; %00 %0a %7f %25 % %zz %u0041 admin %61dmin Admin %C3%A9 %c3%a9 %c0%af %ff';
const piece = fc.oneof(
  fc.constantFrom(...PIECES.split(' ')),
  fc.constantFrom('%e2%80%a8', '@', ':', '|', '~', '%7E', ' ', '\t', '\x80', '#'),
  fc.string({ unit: 'binary-ascii', maxLength: 4 }),
);
/** Paths without a query string, which is tested elsewhere. */
const path = fc.array(piece, { maxLength: 8 }).map((pieces) => `/${pieces.join('').replaceAll('?', '')}`);

it('the normal form of a path is read the same way by every component, and as browsers read the path', () => {
  fc.assert(
    fc.property(path, (raw) => {
      const spelling = spellPath(raw);
      if ('refusal' in spelling) return;
      const read = (text: string) => new URL(`http://site.example${text}`).pathname;
      expect(spellPath(spelling.path)).toEqual(spelling);
      expect(read(spelling.path)).toBe(spelling.path);
      expect(spelling.path).toMatch(/^\/[\x21-\x7e]*$/);
      const decoded = decodeURIComponent(spelling.path);
      expect(decoded.split('/')).toHaveLength(spelling.path.split('/').length);
      expect(decoded).not.toMatch(/\/\/|\\|\p{Cc}|\/\.{1,2}(?:\/|$)/u);
      expect(decoded).toBe(decodeURIComponent(read(raw)));
    }),
    { numRuns: 5000 },
  );
});
