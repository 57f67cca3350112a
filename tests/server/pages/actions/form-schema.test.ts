import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { formAction } from '../../../../src/server/pages/actions/form-schema.ts';
import type { ActionArgs } from '../../../../src/server/pages/server-page.ts';

interface TestContext {
  readonly fetch: typeof fetch;
  readonly user: string;
}

function post(...fields: [string, string | File][]): ActionArgs<TestContext> {
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  const { signal } = new AbortController();
  const url = new URL('http://x.example');
  const context = { fetch, user: 'Ada' };
  return { form, signal, params: {}, request: new Request(url), url, context, isPrefetch: false };
}

const Person = z.object({
  name: z.string().trim().min(1, 'Who are you?'),
  age: z.coerce.number('This is not a number.').int('Whole years, please.'),
});

describe('formAction', () => {
  const action = formAction(
    Person,
    ({ data, context }: ActionArgs<TestContext> & { data: z.output<typeof Person> }) => ({
      ...data,
      by: context.user,
    }),
  );

  it('passes the parsed form and all other arguments to the handler', async () => {
    expect(await action(post(['_action', 'x.y'], ['name', ' Grace '], ['age', '36']))).toEqual({
      name: 'Grace',
      age: 36,
      by: 'Ada',
    });
  });

  it('answers 422 with the first message for each field', async () => {
    expect(await action(post(['name', ' '], ['age', '1.5']))).toEqual({
      status: 422,
      errors: { name: 'Who are you?', age: 'Whole years, please.' },
    });
  });

  it("removes the action's name, so that strict schemas accept the form", async () => {
    const strict = formAction(z.strictObject({ a: z.string() }), ({ data }) => data);
    expect(await strict(post(['_action', 'x.y'], ['a', '1']) as never)).toEqual({ a: '1' });
    expect(await strict(post(['a', '1'], ['b', '2']) as never)).toMatchObject({ status: 422 });
  });

  it('reads a repeated field as a list, and other fields if they are listed in `lists`', async () => {
    const schema = z.object({ tags: z.array(z.string()), ids: z.array(z.string()), none: z.array(z.string()) });
    const lists = formAction(schema, ({ data }) => data, { lists: ['ids', 'none'] });
    const answer = await lists(post(['tags', 'a'], ['tags', 'b'], ['ids', '1']) as never);
    expect(answer).toEqual({ tags: ['a', 'b'], ids: ['1'], none: [] });
  });

  it('accepts any Standard Schema, also asynchronous ones and paths of objects', async () => {
    const schema = {
      '~standard': {
        validate: async () => ({ issues: [{ message: 'Taken.', path: [{ key: 'name' }, 0] }, { message: 'All.' }] }),
        types: undefined as { output: { name: string } } | undefined,
      },
    };
    expect(await formAction(schema, () => 1)(post() as never)).toEqual({
      status: 422,
      errors: { 'name.0': 'Taken.', name: 'Taken.', '': 'All.' },
    });
  });
});
