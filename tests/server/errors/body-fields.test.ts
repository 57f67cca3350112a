import { expect, it } from 'vitest';
import { readBodyFields } from '../../../src/server/errors/create-failure.ts';
import { createScrubber } from '../../../src/server/errors/scrub.ts';

const read = (body: unknown, keep: readonly string[] = []) => readBodyFields(body, keep, createScrubber());

it('records names and types, and only the values of listed fields', () => {
  const body = {
    email: 'ada@example.org',
    age: 36,
    tags: ['secret'],
    at: { city: 'Bern' },
    none: null,
    currency: 'CHF',
  };
  expect(read(body, ['currency', 'city'])).toEqual({
    fields: {
      email: 'string',
      age: 'number',
      tags: { items: ['string'] },
      at: { fields: { city: { value: 'Bern' } } },
      none: 'null',
      currency: { value: 'CHF' },
    },
  });
});

it('records forms, with the name of their action', () => {
  const form = new FormData();
  form.append('_action', 'me.save');
  form.append('tag', 'a');
  form.append('tag', 'b');
  form.append('picture', new File(['x'], 'secret.png'));
  expect(read(form)).toEqual({
    fields: { _action: { value: 'me.save' }, tag: { items: ['string', 'string'] }, picture: 'file' },
  });
});

it('is bounded, and knows nothing of bodies that are no object', () => {
  let deep: unknown = 1;
  for (let level = 0; level < 50; level += 1) deep = { a: deep };
  const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`f${index}`, index]));
  expect(JSON.stringify(read(deep)).length).toBeLessThan(200);
  expect(JSON.stringify(read(wide)).length).toBeLessThan(2000);
  for (const body of [undefined, null, 'text', Buffer.from('x')]) expect(read(body)).toBeUndefined();
});
