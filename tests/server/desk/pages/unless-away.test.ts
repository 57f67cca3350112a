import { describe, expect, it } from 'vitest';
import { unlessAway } from '../../../../src/server/desk/pages/unless-away.ts';
import { StoreAwayError } from '../../../../src/server/desk/store/sql.ts';

describe('unlessAway', () => {
  it('says that the store is away in words for the operator', async () => {
    const work = unlessAway(Promise.reject(new StoreAwayError('connect ECONNREFUSED 10.0.0.7')));
    await expect(work).rejects.toMatchObject({ kind: 'public', status: 503 });
    await expect(work).rejects.not.toThrow('10.0.0.7');
  });

  it('leaves all other failures to be reported', async () => {
    const bug = new TypeError('boom');
    await expect(unlessAway(Promise.reject(bug))).rejects.toBe(bug);
    expect(await unlessAway(Promise.resolve(7))).toBe(7);
  });
});
