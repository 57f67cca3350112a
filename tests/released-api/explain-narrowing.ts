import { isDeepStrictEqual } from 'node:util';

/** JSON Schema 2020-12, as zod writes it. */
export type Schema = boolean | Keywords;

interface Keywords {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly [keyword: string]: unknown;
}

/** A schema of one type, without references, alternatives and lists of values. */
type Part = Keywords & { readonly type?: string };

/** A schema, and the named schemas of its document. */
export interface Rooted {
  readonly schema: Schema;
  readonly named: Readonly<Record<string, Schema>>;
}

/** Completes a sentence that begins with the name of a field. */
export interface Reason {
  /** The path of the field (`items[].title`). Empty for the whole value. */
  readonly at: string;
  readonly says: string;
  readonly weight: number;
}

export interface NarrowingOptions {
  /** Whether callers send the values or get them. Callers ignore fields that they do not know. */
  readonly side: 'sent' | 'got';
  /** The values are in a URL or a header: numbers are also texts there, and one value is also a list. */
  readonly isText?: boolean;
}

/** These restrict nothing, or are compared by their meaning. All other keywords restrict values. */
const NOT_A_LIMIT =
  /^(?:\$\w+|id|title|description|examples?|deprecated|readOnly|writeOnly|default|type|const|properties|required|additionalProperties|items|prefixItems)$/;

/**
 * Says why `to` does not accept every value that `from` accepts. It returns nothing only if `to` accepts all of them. If
 * it cannot know, it returns a reason: limits in another notation count as different, and one of several alternatives
 * must accept all values of a type. `oneOf` is read as `anyOf`.
 *
 * An open object promises no type for the fields that it does not list, so `to` can list them with any type.
 */
export function explainNarrowing(from: Rooted, to: Rooted, { side, isText = false }: NarrowingOptions): Reason[] {
  const isSent = side === 'sent';
  const comparing = new Set<string>();
  return explain(from.schema, to.schema);

  function explain(given: Schema, taken: Schema): Reason[] {
    const pair = JSON.stringify([given, taken]);
    // A tree contains itself: it fits if everything else in it fits.
    if (comparing.has(pair)) return [];
    comparing.add(pair);
    const choices = listParts(taken, to.named);
    const refused = [differ(isSent ? 'is refused now' : 'can have a value now', { weight: OTHER_TYPE })];
    const reasons = listParts(given, from.named).flatMap(
      (part) =>
        choices.map((choice) => fit(part, choice)).sort((one, other) => weigh(one) - weigh(other))[0] ?? refused,
    );
    comparing.delete(pair);
    return [...(isSent ? explainDefault(given, taken) : []), ...reasons];
  }

  function fit(given: Part, taken: Part): Reason[] {
    if (isText && taken.type === 'array' && given.type !== 'array' && !taken.minItems)
      return explain(given, taken.items ?? true);
    const part = isText && taken.type === 'string' && SCALARS.has(given.type ?? '') ? { type: 'string' } : given;
    const isOfType = [undefined, part.type].includes(taken.type) || `${part.type} ${taken.type}` === 'integer number';
    if (!isOfType) return [refuse(nameType(part.type), OTHER_TYPE)];
    if ('const' in taken && !isDeepStrictEqual(part.const, taken.const)) {
      if ('const' in part) return [refuse(JSON.stringify(part.const), OTHER_VALUE)];
      const only = JSON.stringify(taken.const);
      const says = isSent ? `accepts only ${only} now` : `can be other values than ${only} now`;
      return [differ(says, { weight: OTHER_VALUE })];
    }
    const lost = Object.keys(taken).filter((keyword) => !NOT_A_LIMIT.test(keyword) && !isWithin(part, taken, keyword));
    return [
      ...lost.map((keyword) => {
        const text = `\`${keyword}\` ${JSON.stringify(taken[keyword])}`;
        return differ(`${isSent ? 'is limited now' : 'is no longer limited'} by ${text}`);
      }),
      ...fitObject(part, taken),
      ...fitArray(part, taken),
    ];
  }

  function fitObject(given: Part, taken: Part): Reason[] {
    const { properties: known = {}, required: always = [], additionalProperties: others } = given;
    const { properties = {}, required = [], additionalProperties: rest } = taken;
    const isClosed = isSent && rest === false;
    return [
      ...required
        .filter((field) => !always.includes(field))
        .map((field) => {
          if (!isSent && !(field in known)) return differ(`has no \`${field}\` any more`);
          return differ(isSent ? 'is required now' : 'can be missing now', { at: field });
        }),
      ...Object.entries(known).flatMap(([field, schema]) => {
        const next = properties[field] ?? (rest === false ? undefined : rest);
        if (next !== undefined) return inside(field, explain(schema, next));
        if (!isSent || listParts(schema, from.named).length === 0) return [];
        return isClosed
          ? [differ('is refused now', { at: field })]
          : taken.properties
            ? [differ('is ignored now', { at: field })]
            : [];
      }),
      ...Object.entries(properties).flatMap(([field, schema]) =>
        field in known || others === undefined ? [] : inside(field, explain(others, schema)),
      ),
      ...(typeof rest === 'object' ? inside('*', explain(others ?? true, rest)) : []),
      ...(isClosed && others !== false ? [differ('refuses unknown fields now')] : []),
    ];
  }

  function fitArray(given: Part, taken: Part): Reason[] {
    if (taken.items === undefined && !taken.prefixItems) return [];
    const count = Math.max(given.prefixItems?.length ?? 0, taken.prefixItems?.length ?? 0);
    const toItem = (part: Part, index: number) => part.prefixItems?.[index] ?? part.items ?? true;
    const length = typeof given.maxItems === 'number' ? Math.min(count + 1, given.maxItems) : count + 1;
    return Array.from({ length }, (_, index) =>
      inside(index < count ? `[${index}]` : '[]', explain(toItem(given, index), toItem(taken, index))),
    ).flat();
  }

  function refuse(value: string, weight: number): Reason {
    return differ(isSent ? `no longer accepts ${value}` : `can be ${value} now`, { weight });
  }

  function isWithin(given: Part, taken: Part, keyword: string): boolean {
    const [value, limit] = [given[keyword], taken[keyword]];
    if (keyword === 'allOf') {
      const { allOf = [], ...own } = given;
      return taken.allOf?.every((one) => [own, ...allOf].some((other) => explain(other, one).length === 0)) === true;
    }
    if (keyword === 'propertyNames')
      return explain((value as Schema) ?? { type: 'string' }, limit as Schema).length === 0;
    if (typeof value !== 'number' || typeof limit !== 'number') return isDeepStrictEqual(value, limit);
    if (keyword === 'multipleOf') return Number.isInteger(value / limit);
    return /max/i.test(keyword) ? value <= limit : value >= limit;
  }

  function explainDefault(given: Schema, taken: Schema): Reason[] {
    const [before, now] = [given, taken].map((schema) => (typeof schema === 'boolean' ? undefined : schema.default));
    if (before === undefined || isDeepStrictEqual(before, now)) return [];
    return [
      differ(
        `has ${now === undefined ? 'no default' : `the default ${JSON.stringify(now)}`} now, not ${JSON.stringify(before)}`,
      ),
    ];
  }
}

/** Weights of reasons: how unlikely it is that both schemas were meant for the same values. */
const OTHER_TYPE = 100;
const OTHER_VALUE = 10;

const SCALARS = new Set(['integer', 'number', 'boolean']);

/** Lists the ways to fulfil a schema. */
function listParts(schema: Schema, named: Rooted['named']): Part[] {
  if (typeof schema === 'boolean') return schema ? [{}] : [];
  // This is how zod writes never.
  if (isDeepStrictEqual(schema.not, {})) return [];
  const { $ref, type, enum: values, allOf, anyOf, oneOf, ...own } = schema;
  if ($ref !== undefined) {
    const found = named[$ref.replace('#/components/schemas/', '')];
    if (found === undefined) throw new Error(`The document has no schema ${$ref}.`);
    return listParts(found, named);
  }
  const choices = anyOf ?? oneOf;
  if (choices) return choices.flatMap((choice) => listParts(choice, named));
  return [type].flat().flatMap((one): Part[] => {
    const list = 'const' in own ? [own.const] : (values ?? VALUES[one ?? '']);
    if (list) return list.map((value) => ({ ...toPart(value), ...own }));
    const part = one === undefined ? own : { ...own, type: one };
    return [allOf ? join(part, allOf, named) : part];
  });
}

const VALUES: Readonly<Record<string, readonly unknown[]>> = { boolean: [true, false], null: [null] };

/** Adds the fields of open objects, such as those of an intersection. Other schemas that apply together stay a list. */
function join(part: Part, allOf: readonly Schema[], named: Rooted['named']): Part {
  const objects = allOf.flatMap((schema) => listParts(schema, named));
  const names = objects.flatMap(({ properties = {} }) => Object.keys(properties));
  const isPlain = (object: Part) =>
    object.type === 'object' &&
    Object.keys(object).every((key) => NOT_A_LIMIT.test(key)) &&
    object.additionalProperties === undefined;
  const isApart = objects.length === allOf.length && new Set(names).size === names.length;
  if (part.type !== undefined || !isApart || !objects.every(isPlain)) return { ...part, allOf };
  return {
    ...part,
    type: 'object',
    properties: Object.assign({}, ...objects.map(({ properties }) => properties)),
    required: objects.flatMap(({ required = [] }) => required),
  };
}

/** Describes one value, with the limits that it is within. */
function toPart(value: unknown): Part {
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  if (typeof value === 'string')
    return { type, const: value, minLength: [...value].length, maxLength: [...value].length };
  if (typeof value !== 'number') return { type, const: value };
  return { type: Number.isInteger(value) ? 'integer' : type, const: value, minimum: value, maximum: value };
}

function nameType(type = 'anything'): string {
  if (type === 'null' || type === 'anything') return type;
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function differ(says: string, { at = '', weight = 1 } = {}): Reason {
  return { at, says, weight };
}

function weigh(reasons: readonly Reason[]): number {
  return reasons.reduce((sum, { weight }) => sum + weight, 0);
}

function inside(name: string, reasons: readonly Reason[]): Reason[] {
  return reasons.map(({ at, says, weight }) => {
    const path = at === '' || at.startsWith('[') ? `${name}${at}` : `${name}.${at}`;
    // A field of another type does not make another object. Another value can, such as `kind: 'circle'`.
    return differ(says, { at: path, weight: weight > OTHER_VALUE ? 1 : weight });
  });
}
