import { isDeepStrictEqual } from 'node:util';

/** JSON Schema 2020-12, as far as it is compared. */
export type Schema = boolean | Keywords;

interface Keywords {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly patternProperties?: object;
  readonly propertyNames?: Schema;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly [keyword: string]: unknown;
}

/** A schema without references and alternatives. */
type Part = Keywords & { readonly type?: string | undefined };

/** Schemas that apply together. */
type Parts = readonly Part[];

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
  /** How unlikely it is that both schemas were meant for the same values. */
  readonly weight: number;
}

export interface NarrowingOptions {
  /** Whether callers send the values or get them. Callers ignore fields that they do not know. */
  readonly side: 'sent' | 'got';
  /** The values are in a URL or a header: numbers are also texts there, and one value is also a list. */
  readonly isText?: boolean;
}

/**
 * Says why `to` does not accept every value that `from` accepts. Returns nothing only if it accepts all of them. If it
 * cannot know, it says so: one of several alternatives must accept all values of a type. `oneOf` is read as `anyOf`.
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
    const choices = listAlternatives(taken, to.named);
    const reasons = listAlternatives(given, from.named)
      .flatMap(splitValues)
      .flatMap((parts) => {
        if (choices.length === 0)
          return [differ(isSent ? 'is refused now' : 'can have a value now', { weight: OTHER_TYPE })];
        return toClosest(choices.map((choice) => fit(parts, choice)));
      });
    comparing.delete(pair);
    return [...(isSent ? explainDefault(given, taken) : []), ...reasons];
  }

  function fit(parts: Parts, choice: Parts): Reason[] {
    const read = isText ? readText(parts, toType(choice)) : parts;
    const listed = listNames(choice);
    const ignores = choice.some((part) => part.properties) && choice.every((part) => !('additionalProperties' in part));
    const ignored = isSent && ignores ? listNames(parts).filter((name) => !listed.includes(name)) : [];
    return [
      ...choice.flatMap((part) => fitPart(read, part)),
      ...ignored.map((name) => differ('is ignored now', { at: name })),
    ];
  }

  function fitPart(parts: Parts, taken: Part): Reason[] {
    const type = toType(parts);
    if (taken.type && taken.type !== type && !(taken.type === 'number' && type === 'integer')) {
      const kind = type === 'number' && taken.type === 'integer' ? 'a fraction' : nameType(type);
      return [differ(isSent ? `no longer accepts ${kind}` : `can be ${kind} now`, { weight: OTHER_TYPE })];
    }
    const values = toValues(taken);
    const given = parts.find((part) => 'const' in part);
    if (values && !values.some((value) => given && isDeepStrictEqual(value, given.const))) {
      const known = show(given ? [given.const] : values);
      if (given)
        return [differ(isSent ? `no longer accepts ${known}` : `can be ${known} now`, { weight: OTHER_VALUE })];
      return [
        differ(isSent ? `accepts only ${known} now` : `can be other values than ${known} now`, { weight: OTHER_VALUE }),
      ];
    }
    const kind = type === 'integer' ? 'number' : type;
    const limits = Object.entries(LIMITS).flatMap(([name, list]) => ([undefined, name].includes(kind) ? list : []));
    const lost = [...limits, ...LOGIC].filter((name) => name in taken && !isWithin(parts, name, taken[name]));
    return [
      ...lost.map((name) =>
        differ(`${isSent ? 'is limited now' : 'is no longer limited'} by \`${name}\` ${show([taken[name]])}`),
      ),
      ...(kind === undefined || kind === 'object' ? fitObject(parts, taken) : []),
      ...(kind === undefined || kind === 'array' ? fitArray(parts, taken) : []),
    ];
  }

  function fitObject(parts: Parts, { properties = {}, additionalProperties, propertyNames, required = [] }: Part) {
    const known = listNames(parts);
    const missing = required.filter((name) => !parts.some((part) => part.required?.includes(name)));
    const names = new Set([...known, ...Object.keys(properties)]);
    const isOpen = additionalProperties === undefined || (additionalProperties === false && !isSent);
    const unlisted = join(parts.map((part) => part.additionalProperties ?? true));
    const others = isOpen ? [] : explain(unlisted, additionalProperties);
    const named = propertyNames === undefined ? [] : explain(toNames(parts), propertyNames);
    return [
      ...missing.map((name) => {
        if (!isSent && !known.includes(name)) return differ(`has no \`${name}\` any more`);
        return differ(isSent ? 'is required now' : 'can be missing now', { at: name });
      }),
      ...[...names].flatMap((name) => {
        const given = parts.map((part) => toProperty(part, name)).filter((schema) => schema !== undefined);
        if (toType(parts) === undefined) given.push(true);
        const taken = Object.hasOwn(properties, name) ? properties[name] : isOpen ? undefined : additionalProperties;
        return taken === undefined || given.length === 0 ? [] : inside(name, explain(join(given), taken));
      }),
      ...(additionalProperties !== false
        ? inside('*', others)
        : others.map(() => differ('refuses unknown fields now'))),
      ...named.map(() => differ(isSent ? 'accepts fewer names of fields now' : 'can have other names of fields now')),
    ];
  }

  function fitArray(parts: Parts, taken: Part): Reason[] {
    const most = Math.min(...parts.flatMap((part) => (typeof part.maxItems === 'number' ? part.maxItems : [])));
    const count = Math.max(...[...parts, taken].map(({ prefixItems = [] }) => prefixItems.length));
    const toItem = (part: Part, index: number) => part.prefixItems?.[index] ?? part.items ?? true;
    return Array.from({ length: Math.min(count + 1, most) }, (_, index) => {
      const given = join(parts.map((part) => toItem(part, index)));
      return inside(index < count ? `[${index}]` : '[]', explain(given, toItem(taken, index)));
    }).flat();
  }

  function explainDefault(given: Schema, taken: Schema): Reason[] {
    const [before, now] = [given, taken].map((schema) => (typeof schema === 'boolean' ? undefined : schema.default));
    if (before === undefined || isDeepStrictEqual(before, now)) return [];
    return [
      differ(`has ${now === undefined ? 'no default' : `the default ${show([now])}`} now, not ${show([before])}`),
    ];
  }
}

/** Weights of reasons. */
const OTHER_TYPE = 100;
const OTHER_VALUE = 10;

/** Keywords that restrict values of a type. */
const LIMITS = {
  string: ['minLength', 'maxLength', 'pattern', 'format', 'contentEncoding'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  array: ['minItems', 'maxItems', 'uniqueItems', 'contains', 'unevaluatedItems'],
  object: ['minProperties', 'maxProperties', 'patternProperties', 'dependentRequired', 'unevaluatedProperties'],
};
const LOGIC = ['not', 'if', 'then', 'else'];

/** Whether all values are within a limit. A limit that is not a number must be the same. */
function isWithin(parts: Parts, keyword: string, limit: unknown): boolean {
  const given = parts.find((part) => 'const' in part)?.const;
  const isWhole = toType(parts) === 'integer';
  if (keyword === 'pattern' && typeof given === 'string' && new RegExp(String(limit), 'u').test(given)) return true;
  if (keyword === 'multipleOf') {
    const steps = [given, ...parts.map((part) => part.multipleOf), ...(isWhole ? [1] : [])];
    return steps.some((step) => typeof step === 'number' && Number.isInteger(step / Number(limit)));
  }
  if (!/^(?:min|max|exclusive)/.test(keyword)) return parts.some((part) => isDeepStrictEqual(part[keyword], limit));
  const least = toBound(keyword, limit);
  const rivals = keyword.endsWith('imum')
    ? [keyword.replace('exclusiveM', 'm'), keyword.replace(/^m/, 'exclusiveM')]
    : [keyword];
  const bounds = rivals.flatMap((name) => parts.map((part) => toBound(name, part[name])));
  // No length is negative.
  if (/^min(?!imum)/.test(keyword)) bounds.push([0, 0]);
  return bounds.some(([value, isOver]) => value > least[0] || (value === least[0] && isOver >= least[1]));

  /** An upper bound is a lower bound of the negative values. The second number says whether the first is excluded. */
  function toBound(name: string, bound: unknown): [number, number] {
    if (typeof bound !== 'number') return [-Infinity, 0];
    const value = /max/i.test(name) ? -bound : bound;
    if (!name.startsWith('exclusive')) return [value, 0];
    return isWhole ? [Math.floor(value) + 1, 0] : [value, 1];
  }
}

/** Lists the ways to fulfil a schema. */
function listAlternatives(schema: Schema, named: Rooted['named'], trail: readonly string[] = []): Parts[] {
  if (typeof schema === 'boolean') return schema ? [[]] : [];
  const { $ref, type, allOf = [], anyOf, oneOf, ...own } = schema;
  // `not: {}` is how zod writes never. A schema that is only a reference to itself accepts nothing either.
  if (isDeepStrictEqual(own.not, {}) || ($ref !== undefined && trail.includes($ref))) return [];
  const list = (each: Schema) => listAlternatives(each, named, $ref === undefined ? trail : [...trail, $ref]);
  const types = type === undefined ? [undefined] : [type].flat();
  const all = [
    types.map((one) => [{ ...own, type: one }]),
    ...allOf.map(list),
    ...($ref === undefined ? [] : [list(resolve($ref, named))]),
    ...[anyOf, oneOf].flatMap((choices) => (choices ? [choices.flatMap(list)] : [])),
  ];
  const combined = all.reduce((found, more) => found.flatMap((parts) => more.map((next) => [...parts, ...next])));
  return combined.filter(isPossible);
}

function resolve($ref: string, named: Rooted['named']): Schema {
  const found = named[$ref.replace('#/components/schemas/', '')];
  if (found === undefined) throw new Error(`The document has no schema ${$ref}.`);
  return found;
}

function isPossible(parts: Parts): boolean {
  const types = parts.flatMap(({ type }) => (type === 'integer' ? 'number' : (type ?? [])));
  return new Set(types).size < 2;
}

/** Splits parts with a list of values into one alternative for each value. */
function splitValues(parts: Parts): Parts[] {
  const lists = parts.map(toValues).filter((list) => list !== undefined);
  if (lists.length === 0) return [parts];
  const has = (list: readonly unknown[], value: unknown) => list.some((one) => isDeepStrictEqual(one, value));
  const common = lists[0]?.filter((value) => lists.every((list) => has(list, value))) ?? [];
  return common.map((value) => [...parts, toPart(value)]).filter(isPossible);
}

function toValues(part: Part): readonly unknown[] | undefined {
  if ('const' in part) return [part.const];
  if (part.enum || part.type !== 'boolean') return part.enum ?? (part.type === 'null' ? [null] : undefined);
  return [true, false];
}

/** Describes one value, with the limits that it is within. */
function toPart(value: unknown): Part {
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  if (typeof value === 'string')
    return { type, const: value, minLength: [...value].length, maxLength: [...value].length };
  if (typeof value !== 'number') return { type, const: value };
  return { type: Number.isInteger(value) ? 'integer' : type, const: value, minimum: value, maximum: value };
}

function toType(parts: Parts): string | undefined {
  const types = parts.map(({ type }) => type);
  return types.includes('integer') ? 'integer' : types.find((type) => type !== undefined);
}

function nameType(type = 'anything'): string {
  if (type === 'null' || type === 'anything') return type;
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

/** Describes what callers write into a URL for a value, if a text or a list is read from it. */
function readText(parts: Parts, type: string | undefined): Parts {
  const given = toType(parts);
  if (type === 'array' && given !== type) return [{ type, items: join(parts), minItems: 1, maxItems: 1 }];
  if (type !== 'string' || !['integer', 'number', 'boolean'].includes(given ?? '')) return parts;
  const known = parts.find((part) => 'const' in part);
  return [known ? toPart(String(known.const)) : { type }];
}

function listNames(parts: Parts): string[] {
  return parts.flatMap(({ properties = {} }) => Object.keys(properties));
}

/** Returns what a part says about a field; undefined if the field is unknown. */
function toProperty(part: Part, name: string): Schema | undefined {
  if (part.properties && Object.hasOwn(part.properties, name)) return part.properties[name];
  return part.patternProperties ? true : part.additionalProperties;
}

/** Describes the names that fields can have. */
function toNames(parts: Parts): Schema {
  const isClosed = parts.some(({ additionalProperties }) => additionalProperties === false);
  const names = isClosed ? { enum: listNames(parts) } : { type: 'string' };
  return join([names, ...parts.map(({ propertyNames = true }) => propertyNames)]);
}

function toClosest(choices: readonly Reason[][]): Reason[] {
  const weigh = (reasons: readonly Reason[]) => reasons.reduce((sum, { weight }) => sum + weight, 0);
  return choices.toSorted((one, other) => weigh(one) - weigh(other))[0] ?? [];
}

function differ(says: string, { at = '', weight = 1 } = {}): Reason {
  return { at, says, weight };
}

function inside(name: string, reasons: readonly Reason[]): Reason[] {
  return reasons.map(({ at, says, weight }) => {
    const path = at === '' || at.startsWith('[') ? `${name}${at}` : `${name}.${at}`;
    // A field of another type does not make another object. Another value can, such as `kind: 'circle'`.
    return differ(says, { at: path, weight: weight > OTHER_VALUE ? 1 : weight });
  });
}

const join = (schemas: readonly Schema[]): Schema => (schemas.length === 1 ? (schemas[0] ?? true) : { allOf: schemas });

function show(values: readonly unknown[]): string {
  const text = values.map((value) => JSON.stringify(value)).join(', ');
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
