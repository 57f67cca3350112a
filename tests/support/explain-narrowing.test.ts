import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { explainNarrowing, type Schema } from './explain-narrowing.ts';

const NAMES = ['a', 'b', 'c'];
const small = fc.integer({ min: 0, max: 3 });

/** Random schemas from few keywords, names and bounds, so that two of them are often alike. */
const { schema: anySchema } = fc.letrec<{ schema: Schema; leaf: Schema; object: Schema; array: Schema; union: Schema }>(
  (tie) => ({
    schema: fc.oneof({ maxDepth: 3, depthSize: 'small' }, tie('leaf'), tie('object'), tie('array'), tie('union')),
    leaf: fc.oneof(
      fc.constantFrom<Schema>(true, false, {}, { not: {} }, { type: 'null' }, { type: 'boolean' }),
      fc.constantFrom<Schema>({ $ref: '#/components/schemas/Tree' }, { $ref: '#/components/schemas/Loop' }),
      fc.constantFrom<Schema>({ const: 'a' }, { enum: ['a', 'bb', 1, null] }, { type: 'string', enum: ['a', 'bb'] }),
      fc.constantFrom<Schema>({ type: ['string', 'null'], pattern: '^a*$' }, { type: 'string', pattern: '^[ab]*$' }),
      fc.record({ type: fc.constant('string'), minLength: small, maxLength: small }, { requiredKeys: ['type'] }),
      fc.record(
        {
          type: fc.constantFrom('integer', 'number', ['number', 'boolean']),
          minimum: small,
          exclusiveMinimum: small,
          maximum: small,
          exclusiveMaximum: small,
          multipleOf: fc.constantFrom(1, 2, 0.5),
        },
        { requiredKeys: ['type'] },
      ),
    ),
    object: fc.record(
      {
        type: fc.constant('object'),
        properties: fc.dictionary(fc.constantFrom(...NAMES), tie('schema'), { maxKeys: 3 }),
        required: fc.subarray(NAMES),
        additionalProperties: tie('schema'),
        propertyNames: fc.constantFrom<Schema>({ type: 'string' }, { enum: ['a', 'b'] }),
        maxProperties: small,
      },
      { requiredKeys: ['type', 'properties', 'additionalProperties'] },
    ),
    array: fc.record(
      {
        type: fc.constant('array'),
        items: tie('schema'),
        prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
        minItems: small,
        maxItems: small,
      },
      { requiredKeys: ['type'] },
    ),
    union: fc.oneof(
      fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
      fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
    ),
  }),
);

const named: Record<string, Schema> = {
  Tree: {
    type: 'object',
    properties: { a: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } },
    required: ['a'],
    additionalProperties: false,
  },
  Loop: { anyOf: [{ $ref: '#/components/schemas/Loop' }, { type: 'string' }] },
};

const LEAVES = [null, true, '', 'a', 'b', 'bb', 'aaa', 'bbbb', -1, 0, 0.5, 1, 1.5, 2, 3, 4, [], {}, { a: [{ a: [] }] }];

/** Random JSON that a schema often accepts. */
function toValue(schema: Schema): fc.Arbitrary<unknown> {
  const leaf = fc.constantFrom<unknown>(...LEAVES);
  if (typeof schema === 'boolean') return leaf;
  const { type, properties = {}, additionalProperties = true, prefixItems = [], items = true } = schema;
  const choices = [...(schema.anyOf ?? []), ...(schema.allOf ?? [])];
  if (choices.length > 0) return fc.oneof(...choices.map(toValue));
  if (type === 'object') {
    const fields = Object.entries(properties).map(([name, field]) => [name, toValue(field)]);
    return fc.record({ d: toValue(additionalProperties), ...Object.fromEntries(fields) }, { requiredKeys: [] });
  }
  if (type !== 'array') return leaf;
  const [first = items, second = items] = prefixItems;
  const list = [first, second, items].map(toValue);
  return fc.tuple(fc.tuple(...list), fc.integer({ min: 0, max: 3 })).map(([values, length]) => values.slice(0, length));
}

/** Two schemas, of which the second often differs from the first in one keyword, and values for the first. */
const anyCase = fc.tuple(anySchema, anySchema, fc.nat()).chain(([from, other, pick]) => {
  const keywords = typeof other === 'object' ? Object.entries(other) : [];
  const changed = keywords.slice(pick % 4, (pick % 4) + 1);
  const to = typeof from === 'boolean' || changed.length === 0 ? other : { ...from, ...Object.fromEntries(changed) };
  return fc.tuple(fc.constant(from), fc.constant(to), fc.array(toValue(from), { minLength: 20, maxLength: 20 }));
});

const explain = (from: Schema, to: Schema) =>
  explainNarrowing({ schema: from, named }, { schema: to, named }, { side: 'sent' });

const ajv = new Ajv2020({ strict: false, validateSchema: false });

function createCheck(schema: Schema): (value: unknown) => boolean {
  const text = JSON.stringify({ anyOf: [schema], $defs: { ...named, Loop: { type: 'string' } } });
  return ajv.compile<unknown>(JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')));
}

describe('the comparison of random schemas', () => {
  it('accepts only schemas that accept the same values', () => {
    let fits = 0;
    let values = 0;
    fc.assert(
      fc.property(anyCase, ([from, to, samples]) => {
        if (explain(from, to).length > 0) return;
        const given = samples.filter(createCheck(from));
        fits += 1;
        values += given.length;
        const isTaken = createCheck(to);
        expect(given.filter((value) => !isTaken(value))).toEqual([]);
      }),
      { numRuns: 400 },
    );
    // Many comparisons must end in a promise, and many values must test it.
    expect(Math.min(fits, values)).toBeGreaterThan(100);
  });

  it('accepts what did not change', () => {
    fc.assert(
      fc.property(anySchema, (schema) => {
        expect(explain(schema, schema)).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('the comparison of schemas that zod does not write', () => {
  it('lets replies of open objects have new fields', () => {
    const listing = (properties: Record<string, Schema>) => ({ schema: { type: 'object', properties }, named });
    const [one, two] = [listing({ a: {} }), listing({ a: {}, b: {} })];
    expect(explainNarrowing(two, one, { side: 'got' })).toEqual([]);
    expect(explainNarrowing(two, one, { side: 'sent' })).toMatchObject([{ at: 'b', says: 'is ignored now' }]);
  });

  it('reports fields that a pattern can allow', () => {
    const from = { type: 'object', patternProperties: { '^x': { type: 'integer' } }, additionalProperties: false };
    const to = { type: 'object', properties: { x1: { type: 'string' } }, additionalProperties: true };
    expect(explain(from, to)).toMatchObject([{ at: 'x1', says: 'no longer accepts anything' }]);
  });
});
