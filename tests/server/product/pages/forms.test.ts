import { afterEach, expect, it } from 'vitest';
import { forms } from '#product-server/pages/forms.ts';
import { actionArgs, loaderArgs } from '../../../support/product/page-args.ts';

const { actions } = forms;
const LIST = '/tour/forms#gates';

/** Returns the URL to which an action redirects, or its result. */
async function run(name: keyof typeof actions, fields: Parameters<typeof actionArgs>[0] = {}): Promise<unknown> {
  try {
    const action = actions[name];
    return await (typeof action === 'function' ? action : action.run)(actionArgs(fields));
  } catch (result) {
    if (result instanceof Error && 'location' in result) return result.location;
    throw result;
  }
}

const names = () => forms.loader(loaderArgs()).gates.map(({ name }) => name);
const before = forms.loader(loaderArgs()).gates.map(({ id }) => id);

afterEach(async () => {
  for (const { id } of forms.loader(loaderArgs()).gates) if (!before.includes(id)) await run('remove', { id });
});

it.each<[name: keyof typeof actions, fields: Parameters<typeof actionArgs>[0], result: unknown]>([
  [
    'send',
    { name: ' ', email: 'ada', message: 'Hi' },
    { status: 422, errors: { name: expect.any(String), email: expect.any(String), message: expect.any(String) } },
  ],
  ['send', { name: 'Ada', email: 'ada@weir.example', message: 'The river is rising.' }, { sentAt: expect.any(Date) }],
  ['add', {}, { status: 422, errors: { name: expect.any(String) } }],
  [
    'upload',
    { file: new File(['12 bytes'], 'a.csv', { type: 'text/csv' }) },
    { name: 'a.csv', bytes: 8, type: 'text/csv', hash: expect.stringMatching(/^[\da-f]{16}$/) },
  ],
  // As browsers send an empty field.
  ['upload', { file: new File([], '') }, { status: 422 }],
])('forms.%s answers %j with %j', async (name, fields, result) => {
  expect(await run(name, fields)).toMatchObject(result as object);
});

it('forms.add and forms.remove change the list, and redirect to it', async () => {
  expect(await run('add', { name: ' East gate ' })).toBe(LIST);
  expect(names()).toContain('East gate');
  expect(await run('add', { name: 'East gate' })).toMatchObject({ status: 409 });
  const { id = '' } = forms.loader(loaderArgs()).gates.at(-1) ?? {};
  for (let time = 0; time < 2; time++) expect(await run('remove', { id })).toBe(LIST);
  expect(names()).not.toContain('East gate');
});

it('forms.add limits the length of the list', async () => {
  for (let count = 0; count < 40; count++) await run('add', { name: `Gate number ${count}` });
  expect(names()).toHaveLength(20);
});

it('forms.like increments the count', async () => {
  const { likes } = forms.loader(loaderArgs());
  await run('like');
  expect(forms.loader(loaderArgs()).likes).toBe(likes + 1);
});
