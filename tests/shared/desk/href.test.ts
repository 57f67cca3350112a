import { describe, expect, it } from 'vitest';
import { toListHref, USUAL_VIEW } from '../../../src/shared/desk/href.ts';

describe('the address of a list', () => {
  it('leaves out defaults', () => {
    expect(toListHref(USUAL_VIEW)).toBe('/desk');
    expect(toListHref({ ...USUAL_VIEW, search: 'a&b' }, { state: 'all', after: 'X' })).toBe(
      '/desk?state=all&search=a%26b&after=X',
    );
  });
});
