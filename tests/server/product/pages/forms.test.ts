import { afterEach, describe, expect, it } from 'vitest';
import { forms } from '#product-server/pages/forms.ts';
import { actionArgs } from '../../../support/product/page-args.ts';

const { add, like, remove, send, upload } = forms.actions;

/** Returns the URL to which an action redirects, or its result. */
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
  it('names each invalid field', async () => {
    const refusal = await run(() => send(actionArgs({ name: ' ', email: 'ada', message: 'Hi' })));
    expect(refusal).toMatchObject({ status: 422 });
    expect(Object.keys((refusal as { errors: object }).errors)).toEqual(['name', 'email', 'message']);
  });

  it('accepts a valid message', async () => {
    const fields = { name: 'Ada', email: 'ada@weir.example', message: 'The river is rising.' };
    expect(await run(() => send(actionArgs(fields)))).toEqual({ sentAt: expect.any(Date) });
  });
});

describe('forms.add and forms.remove', () => {
  it('add a gate to the list and remove it, and redirect to the list', async () => {
    expect(await run(() => add(actionArgs({ name: ' East gate ' })))).toBe('/tour/forms#gates');
    expect(names()).toContain('East gate');
    const { id } = forms.loader().gates.at(-1) ?? { id: '' };
    expect(await run(() => remove(actionArgs({ id })))).toBe('/tour/forms#gates');
    expect(names()).not.toContain('East gate');
  });

  it('reject a gate without a name', async () => {
    expect(await run(() => add(actionArgs({})))).toMatchObject({ status: 422, errors: { name: expect.any(String) } });
  });

  it('reject a second gate with the same name', async () => {
    await run(() => add(actionArgs({ name: 'West gate' })));
    expect(await run(() => add(actionArgs({ name: 'West gate' })))).toMatchObject({ status: 409 });
  });

  it('limit the length of the list', async () => {
    for (let count = 0; count < 40; count++) await run(() => add(actionArgs({ name: `Gate number ${count}` })));
    expect(names()).toHaveLength(20);
  });

  it('redirect if the gate no longer exists', async () => {
    expect(await run(() => remove(actionArgs({ id: 'gate-0' })))).toBe('/tour/forms#gates');
  });
});

describe('forms.upload', () => {
  it('returns name, size and type of a file', async () => {
    const file = new File(['twelve bytes'], 'level.csv', { type: 'text/csv' });
    expect(await run(() => upload(actionArgs({ file })))).toEqual({ name: 'level.csv', bytes: 12, type: 'text/csv' });
  });

  it('asks for a file if the field is empty, as browsers send it', async () => {
    const file = new File([], '');
    expect(await run(() => upload(actionArgs({ file })))).toMatchObject({ status: 422 });
  });
});

describe('forms.like', () => {
  it('increments the count', async () => {
    const { likes } = forms.loader();
    await run(like);
    expect(forms.loader().likes).toBe(likes + 1);
  });
});
