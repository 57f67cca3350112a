import { expect, it } from 'vitest';
import type { LoggedChange } from '../../../../src/desk/server/store/history-table.ts';
import { presentChanges } from '../../../../src/desk/server/views/present-history.ts';

it('shows changes that a later release made, because you can go back to this one', () => {
  const change = { id: 7, at: 1, author: 'vera', action: 'snoozed', detail: {} } as unknown as LoggedChange;
  expect(presentChanges([change], [])).toEqual([{ id: 'change-7', at: 1, by: 'vera', words: 'changed it (snoozed)' }]);
});
