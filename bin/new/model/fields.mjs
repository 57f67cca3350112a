import { Refusal, toConstName, toWords } from '../names.mjs';

/**
 * The types of fields. `sql` works on both databases, `ts` is the type in code, `schema` checks JSON, `form` checks the
 * text of a form if that differs, `input` has the props of the input, `show` is JSX. The samples are for tests.
 */
const TYPES = {
  text: {
    sql: 'text',
    ts: 'string',
    schema: (label) => `z.string().trim().min(1, 'Enter ${article(label)}.').max(200, 'Use at most 200 characters.')`,
    input: ' required maxLength={200}',
    show: (value) => `{${value}}`,
    samples: (label) => [`The first ${label}`, `Another ${label}`],
  },
  longtext: {
    sql: 'text',
    ts: 'string',
    schema: (label) =>
      `z.string().trim().min(1, 'Enter ${article(label)}.').max(10_000, 'Use at most 10,000 characters.')`,
    input: ' type="multiline" required',
    show: (value) => `{${value}}`,
    samples: (label) => [`The first ${label}`, `Another ${label}`],
  },
  number: {
    sql: 'double precision',
    ts: 'number',
    schema: () => `z.number('Enter a number.')`,
    form: (key) => `z.string().trim().min(1, 'Enter a number.').transform(Number).pipe(${key})`,
    input: ' type="number" step="any" required',
    show: (value) => `{${value}}`,
    samples: () => [7, 8.5],
  },
  boolean: {
    sql: 'boolean',
    ts: 'boolean',
    schema: () => 'z.boolean()',
    form: () => `z.literal('on').optional().transform((value) => value === 'on')`,
    input: ' type="checkbox"',
    show: (value) => `{${value} ? 'Yes' : 'No'}`,
    samples: () => [true, false],
  },
  date: {
    sql: 'date',
    ts: 'string',
    schema: () => `z.iso.date('Enter a date.')`,
    input: ' type="date" required',
    show: (value) => `<time dateTime={${value}}>{${value}}</time>`,
    samples: () => ['2026-01-31', '2026-02-01'],
  },
};

/** Columns of every model, and names that the written code uses. */
const TAKEN = new Set(['id', 'user', 'userId', 'createdAt', 'password', 'token']);

/** Reserved words of SQL, which need quotes as the name of a column. */
const RESERVED = new Set(
  'all and any as asc case check column constraint cross current_date default desc distinct do else end except for foreign from full grant group having in index inner into is join left like limit not null offset on only or order outer primary references right select set table then to union unique user using values when where with'.split(
    ' ',
  ),
);

/**
 * @param {string[]} texts such as `title:text`
 * @param {{ one: string }} names
 * @throws Refusal
 */
export function parseFields(texts, { one }) {
  const fields = texts.map(parseField);
  const names = fields.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice) throw new Refusal(`There are two fields with the name ${twice}. Rename one of them.`);
  if (!fields.some(({ type }) => type === 'text')) {
    throw new Refusal(
      `A model needs a field of the type text, which its list shows: npm run new -- model ${one} title:text`,
    );
  }
  return fields;
}

function parseField(text) {
  const [name = '', type = ''] = text.split(':');
  if (text.split(':').length !== 2 || !Object.hasOwn(TYPES, type)) {
    throw new Refusal(`"${text}" is not a field. Use name:type. The types are ${Object.keys(TYPES).join(', ')}.`);
  }
  if (!/^[a-z][A-Za-z0-9]*$/.test(name)) {
    throw new Refusal(`A field cannot have the name "${name}". Use letters and digits, such as dueDate.`);
  }
  if (TAKEN.has(name) || toConstName(name) !== name) {
    throw new Refusal(`A field cannot have the name "${name}", because it is reserved. Choose another one.`);
  }
  const kebab = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const column = kebab.replaceAll('-', '_');
  const { samples, schema, form, ...rest } = TYPES[type];
  const label = toWords(kebab);
  const [sample, other] = samples(label.toLowerCase());
  return {
    ...rest,
    name,
    type,
    label,
    column: RESERVED.has(column) ? `"${column}"` : column,
    schema: schema(label.toLowerCase()),
    form: form?.(`fields.${name}`),
    sample,
    other,
  };
}

function article(label) {
  return `${/^[aeiou]/.test(label) ? 'an' : 'a'} ${label}`;
}

/** The first text, which stands for a row in lists and titles. */
export const toTitle = (fields) => fields.find(({ type }) => type === 'text');
