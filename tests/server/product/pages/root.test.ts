import { expect, it } from 'vitest';
import { root } from '#product-server/pages/root.ts';
import { actionArgs } from '../../../support/product/page-args.ts';

const { note } = root.actions;

it('accepts a note', async () => {
  expect(await note(actionArgs({ text: ' Good page. ' }))).toEqual({ text: 'Good page.' });
});

it.each<Record<string, string>>([{}, { text: '' }, { text: ' a ' }])(
  'rejects %j and names the field',
  async (fields) => {
    expect(await note(actionArgs(fields))).toMatchObject({ status: 422, errors: { text: expect.any(String) } });
  },
);
