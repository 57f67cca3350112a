import { describe, expect, it } from 'vitest';
import { unlessAway } from '../../../../src/server/desk/pages/unless-away.ts';
import { QueryFailedError, StoreAwayError } from '../../../../src/server/desk/store/sql.ts';

const inside = 'permission denied for table desk_feedback (42501)';

describe('unlessAway', () => {
  it.each([
    ['slow', /took too long/],
    ['busy', /took too long/],
    ['refused', /refused a query/],
    ['value', /refused a query/],
    ['arriving', /may not be stored yet/],
  ] as const)('says that a query failed (%s), without details of the database', async (reason, words) => {
    const work = unlessAway(Promise.reject(new QueryFailedError(reason, inside)));
    await expect(work).rejects.toMatchObject({ kind: 'public', status: 503, message: expect.stringMatching(words) });
    await expect(work).rejects.not.toThrow('42501');
  });

  it('says that the store is unavailable', async () => {
    const work = unlessAway(Promise.reject(new StoreAwayError('connect ECONNREFUSED 10.0.0.7')));
    await expect(work).rejects.toMatchObject({ kind: 'public', status: 503 });
    await expect(work).rejects.not.toThrow('10.0.0.7');
  });

  it('rethrows all other errors, so that they are reported', async () => {
    const bug = new TypeError('boom');
    await expect(unlessAway(Promise.reject(bug))).rejects.toBe(bug);
    expect(await unlessAway(Promise.resolve(7))).toBe(7);
  });
});
