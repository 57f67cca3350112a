/** The most rows that a list shows. */
export const MOST = 500;

export function writeFields({ Pascal, aOne, fields }) {
  const texts = fields.filter(({ form }) => form);
  return `import * as z from 'zod';

const fields = {
${fields.map(({ name, schema }) => `  ${name}: ${schema},`).join('\n')}
};

/** What callers of the API send. Unknown fields are refused. */
export type ${Pascal.one}Fields = z.infer<typeof ${Pascal.one}Fields>;
export const ${Pascal.one}Fields = z.strictObject(fields).meta({ id: '${Pascal.one}Fields' });

/** What a form sends${texts.length > 0 ? ', as texts' : ''}. */
export const ${Pascal.one}Form = z.object(${
    texts.length > 0 ? `{ ...fields, ${texts.map(({ name, form }) => `${name}: ${form}`).join(', ')} }` : 'fields'
  });

/** ${aOne[0].toUpperCase()}${aOne.slice(1)}, as pages and the API show it. */
export type ${Pascal.one} = z.infer<typeof ${Pascal.one}>;
export const ${Pascal.one} = z.object({ id: z.string(), ...fields, createdAt: z.iso.datetime() }).meta({ id: '${Pascal.one}' });
`;
}

export function writeOperations({ one, many, camel, Pascal, aOne, words }) {
  const { one: Type } = Pascal;
  return `import * as z from 'zod';
import { operation } from '#engine';
import { ${Type}, ${Type}Fields } from '../${one}-fields.ts';

const params = z.object({ id: z.string() });
const problems = { 404: 'You have no ${words.one} with this id.' };

export const ${camel.many} = {
  list${Pascal.many}: operation({
    method: 'GET',
    path: '/${many}',
    summary: 'List your ${words.many}',
    replies: { 200: { about: 'The newest ${words.many} first, at most ${MOST}.', body: ${Type}.array() } },
  }),
  create${Type}: operation({
    method: 'POST',
    path: '/${many}',
    summary: 'Create ${aOne}',
    body: ${Type}Fields,
    replies: { 201: { about: 'The new ${words.one}.', body: ${Type}, headers: { Location: 'Its URL.' } } },
  }),
  get${Type}: operation({
    method: 'GET',
    path: '/${many}/:id',
    summary: 'Get ${aOne}',
    params,
    replies: { 200: { about: 'The ${words.one}.', body: ${Type} } },
    problems,
  }),
  replace${Type}: operation({
    method: 'PUT',
    path: '/${many}/:id',
    summary: 'Replace the fields of ${aOne}',
    params,
    body: ${Type}Fields,
    replies: { 200: { about: 'The changed ${words.one}.', body: ${Type} } },
    problems,
  }),
  delete${Type}: operation({
    method: 'DELETE',
    path: '/${many}/:id',
    summary: 'Delete ${aOne}',
    params,
    replies: { 204: { about: 'The ${words.one} is deleted.' } },
    problems,
  }),
};
`;
}
