import { afterEach, describe, expect, it } from 'vitest';
import { forms } from '#product-server/pages/forms.ts';
import { actionArgs } from '../../../support/product/page-args.ts';

const { add, like, remove, send, upload } = forms.actions;

/** Where an action redirects to, or what it returned. */
async function run(act: () => unknown): Promise<unknown> {
  try {
    return await act();
  } catch (result) {
    if (result instanceof Error && 'location' in result) return result.location;
    throw result;
  }
}

const names = () => forms.loader().gates.map(({ name }) => name);
const before = forms.loader().gates.map(({ id }) => id);

afterEach(async () => {
  for (const { id } of forms.loader().gates) {
    if (!before.includes(id)) await run(() => remove(actionArgs({ id })));
  }
});

describe('forms.send', () => {
  it('names each field that is wrong', async () => {
    const refusal = await run(() => send(actionArgs({ name: ' ', email: 'ada', message: 'Hi' })));
    expect(refusal).toMatchObject({ status: 422 });
    expect(Object.keys((refusal as { errors: object }).errors)).toEqual(['name', 'email', 'message']);
  });

  it('takes a message that is right', async () => {
    const fields = { name: 'Ada', email: 'ada@weir.example', message: 'The river is rising.' };
    expect(await run(() => send(actionArgs(fields)))).toEqual({ sentAt: expect.any(Date) });
  });
});

describe('forms.add and forms.remove', () => {
  it('put a gate on the list and take it off, and redirect to the list', async () => {
    expect(await run(() => add(actionArgs({ name: ' East gate ' })))).toBe('/tour/forms#gates');
    expect(names()).toContain('East gate');
    const { id } = forms.loader().gates.at(-1) ?? { id: '' };
    expect(await run(() => remove(actionArgs({ id })))).toBe('/tour/forms#gates');
    expect(names()).not.toContain('East gate');
  });

  it('refuse a gate without a name', async () => {
    expect(await run(() => add(actionArgs({})))).toMatchObject({ status: 422, errors: { name: expect.any(String) } });
  });

  it('refuse a second gate of one name', async () => {
    await run(() => add(actionArgs({ name: 'West gate' })));
    expect(await run(() => add(actionArgs({ name: 'West gate' })))).toMatchObject({ status: 409 });
  });

  it('keep the list bounded', async () => {
    for (let count = 0; count < 40; count++) await run(() => add(actionArgs({ name: `Gate number ${count}` })));
    expect(names()).toHaveLength(20);
  });

  it('redirect where the gate is gone already', async () => {
    expect(await run(() => remove(actionArgs({ id: 'gate-0' })))).toBe('/tour/forms#gates');
  });
});

describe('forms.upload', () => {
  it('tells name, size and type of a file', async () => {
    const file = new File(['twelve bytes'], 'level.csv', { type: 'text/csv' });
    expect(await run(() => upload(actionArgs({ file })))).toEqual({ name: 'level.csv', bytes: 12, type: 'text/csv' });
  });

  it('asks for a file where the field is empty, as browsers send it', async () => {
    const file = new File([], '');
    expect(await run(() => upload(actionArgs({ file })))).toMatchObject({ status: 422 });
  });
});

describe('forms.like', () => {
  it('raises the count by one', async () => {
    const { likes } = forms.loader();
    await run(like);
    expect(forms.loader().likes).toBe(likes + 1);
  });
});
