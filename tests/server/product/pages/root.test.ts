import { expect, it } from 'vitest';
import { root } from '#product-server/pages/root.ts';
import { actionArgs } from '../../../support/product/page-args.ts';

const { subscribe } = root.actions;

it('takes an e-mail address', async () => {
  expect(await subscribe(actionArgs({ email: 'ada@weir.example' }))).toEqual({ email: 'ada@weir.example' });
});

it.each<Record<string, string>>([{}, { email: '' }, { email: 'ada' }])(
  'refuses %j and names the field',
  async (fields) => {
    expect(await subscribe(actionArgs(fields))).toMatchObject({ status: 422, errors: { email: expect.any(String) } });
  },
);
