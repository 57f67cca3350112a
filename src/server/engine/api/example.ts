import type { ApiSchema } from '../../../shared/engine/api/operation.ts';
import { type JsonSchema, toJsonSchema } from './json-schemas.ts';

/**
 * Returns an example of what a schema describes: its first one of `.meta({ examples: […] })`, or one made up from its
 * types. Undefined if the schema refuses what was made up, for example because of a pattern.
 */
export function toExample(schema: ApiSchema, side: 'input' | 'output'): unknown {
  const root = toJsonSchema(schema, side);
  const example = makeUp(root, root);
  const result = schema['~standard'].validate(example);
  return result instanceof Promise || result.issues ? undefined : example;
}

const MAX_DEPTH = 6;

const TEXTS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-31T12:00:00Z',
  date: '2026-01-31',
  email: 'ada@example.com',
  uri: 'https://example.com/',
  uuid: '6ba7b810-9dad-41d1-80b4-00c04fd430c8',
};

function makeUp(node: JsonSchema | boolean, root: JsonSchema, depth = 0): unknown {
  if (typeof node === 'boolean') return undefined;
  const { $ref, examples, anyOf, oneOf, allOf, items, prefixItems, properties = {}, minLength = 0, minimum = 1 } = node;
  if (Array.isArray(examples)) return examples[0];
  for (const known of ['const', 'default'] as const) if (known in node) return node[known];
  if (Array.isArray(node.enum)) return node.enum[0];
  const within = (inner: unknown) => makeUp(inner as JsonSchema | boolean, root, depth + 1); // a part of a JSON Schema is one
  // A tree has no end.
  if ($ref !== undefined && depth > MAX_DEPTH) return undefined;
  if ($ref === '#') return within(root);
  if (typeof $ref === 'string') return within((root.$defs as JsonSchema)[$ref.replace('#/$defs/', '')]);
  const [first] = [anyOf, oneOf, allOf].find(Array.isArray) ?? [];
  if (first) return within(first);
  switch ([node.type].flat()[0]) {
    case 'object':
      return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, within(inner)]));
    case 'array':
      return (Array.isArray(prefixItems) ? prefixItems : [items ?? {}])
        .map(within)
        .filter((item) => item !== undefined);
    case 'string':
      return TEXTS[String(node.format)] ?? 'text'.padEnd(Number(minLength), '.');
    case 'number':
    case 'integer':
      return Math.max(Number(minimum), 1);
    case 'boolean':
      return true;
    default:
      return null;
  }
}
