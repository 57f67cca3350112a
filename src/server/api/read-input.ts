import type { ApiSchema, SchemaIssue, SchemaResult } from '../../shared/api/operation.ts';
import { type FieldErrors, toErrors } from '../request/schema-errors.ts';

/** zod reports unknown keys together, for the object that contains them. */
function splitUnknown(issue: SchemaIssue): SchemaIssue[] {
  if (!('keys' in issue && Array.isArray(issue.keys))) return [issue];
  return issue.keys.map((key) => ({ path: [...(issue.path ?? []), key], message: 'Unknown field.' }));
}

export type Read = { readonly value: unknown } | { readonly errors: FieldErrors };

/** Checks a value with a schema, at once unless the schema itself waits. */
export function readValue(schema: ApiSchema, value: unknown): Read | Promise<Read> {
  const result = schema['~standard'].validate(value);
  return result instanceof Promise ? result.then(toRead) : toRead(result);
}

function toRead(result: SchemaResult<unknown>): Read {
  return result.issues ? { errors: toErrors(result.issues.flatMap(splitUnknown)) } : { value: result.value };
}

/** Reads the texts of a path, a search, headers or a form as the types that a schema expects. Files stay as they are. */
type TextReader = (texts: Iterable<readonly [string, string | File]>) => Read | Promise<Read>;

/** What a part of a request is without a schema. */
export const UNREAD: Read = { value: undefined };

/**
 * Texts become numbers, booleans and lists if the schema expects them, so that `z.int()` reads `7`. A name that appears
 * twice is an error, unless it is a list.
 */
export function createTextReader(schema: ApiSchema): TextReader {
  let members: readonly Fields[] | undefined;
  return function readTexts(given) {
    members ??= toMembers(schema);
    const texts = [...given];
    const fields = members.length > 1 ? joinFields(members.filter((member) => fits(member, texts))) : members[0];
    const values = new Map<string, unknown>();
    const errors: Record<string, string> = {};
    for (const [name, text] of texts) {
      const { types, items } = fields?.get(name) ?? NO_KINDS;
      if (types.has('array')) {
        const list = values.get(name) as unknown[] | undefined;
        if (list) list.push(toTyped(text, items));
        else values.set(name, [toTyped(text, items)]);
      } else if (values.has(name)) {
        errors[name] = 'Send it only once.';
      } else {
        values.set(name, toTyped(text, types));
      }
    }
    const read = readValue(schema, Object.fromEntries(values));
    if (Object.keys(errors).length === 0) return read;
    const addErrors = (read: Read): Read => ({ errors: { ...('errors' in read && read.errors), ...errors } });
    return read instanceof Promise ? read.then(addErrors) : addErrors(read);
  };
}

interface Kinds {
  readonly types: ReadonlySet<string>;
  readonly items: ReadonlySet<string>;
  /** If these are not empty, the field is one of them. */
  readonly constants: readonly string[];
}

/** The fields of an object. Of a union, each member has its own. */
type Fields = ReadonlyMap<string, Kinds>;

const NO_KINDS: Kinds = { types: new Set(), items: new Set(), constants: [] };

interface Node {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Node>>;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Node[];
  readonly oneOf?: readonly Node[];
  readonly allOf?: readonly Node[];
}

function toMembers(schema: ApiSchema): Fields[] {
  const root = schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' }) as Node;
  const resolve = (node: Node): Node => {
    const name = node.$ref?.replace('#/$defs/', '');
    return (name !== undefined && root.$defs?.[name]) || node;
  };
  const flatten = (node: Node): Node[] => {
    const found = resolve(node);
    return [found, ...[found.anyOf, found.oneOf, found.allOf].flatMap((nodes) => nodes ?? []).flatMap(flatten)];
  };
  const toTypes = (nodes: readonly Node[]) => new Set(nodes.flatMap(({ type }) => type ?? []));
  const toKinds = (node: Node): Kinds => {
    const nodes = flatten(node);
    const { const: value, enum: values = [] } = resolve(node);
    return {
      types: toTypes(nodes),
      items: toTypes(nodes.flatMap(({ items }) => (items ? flatten(items) : []))),
      constants: (value === undefined ? values : [value]).map(String),
    };
  };
  return flatten(root).flatMap(({ properties }) =>
    properties ? [new Map(Object.entries(properties).map(([name, node]) => [name, toKinds(node)]))] : [],
  );
}

function fits(fields: Fields, texts: readonly (readonly [string, string | File])[]): boolean {
  return texts.every(([name, text]) => {
    const { constants } = fields.get(name) ?? NO_KINDS;
    return constants.length === 0 || constants.includes(String(text));
  });
}

function joinFields(members: readonly Fields[]): Fields {
  const joined = new Map<string, Kinds>();
  for (const [name, { types, items }] of members.flatMap((fields) => [...fields])) {
    const known = joined.get(name) ?? NO_KINDS;
    joined.set(name, { ...known, types: known.types.union(types), items: known.items.union(items) });
  }
  return joined;
}

const INTEGER = /^-?(?:0|[1-9]\d{0,15})$/;
/** What `String()` makes of a number. */
const NUMBER = /^-?(?:0|[1-9]\d{0,20})(?:\.\d{1,20})?(?:e[+-]?\d{1,3})?$/;

/** A text stays one if it does not look like the other types. `"5"` is a number in `z.union([z.int(), z.literal('all')])`. */
function toTyped(text: string | File, types: ReadonlySet<string>): unknown {
  if (typeof text !== 'string') return text;
  if (types.has('integer') && INTEGER.test(text)) return Number(text);
  if (types.has('number') && NUMBER.test(text)) return Number(text);
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
