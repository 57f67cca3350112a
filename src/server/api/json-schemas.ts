import { isDeepStrictEqual } from 'node:util';
import type { ApiSchema } from '../../shared/api/operation.ts';

/** What is read of a schema in JSON Schema 2020-12. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}

export interface JsonSchemas {
  /** @param side `input` is what callers send, `output` what they get */
  read(schema: ApiSchema, side: 'input' | 'output'): JsonSchema;
  /** The schemas with an id, by their id. */
  named(): Readonly<Record<string, JsonSchema>>;
}

const LOCAL = '#/$defs/';
const NAMED = '#/components/schemas/';

/** Collects the schemas of a document. Schemas with an id (`.meta({ id: 'Person' })`) appear once, and are referenced. */
export function createJsonSchemas(): JsonSchemas {
  const named: Record<string, JsonSchema> = {};

  function keep(id: string, schema: JsonSchema): void {
    if (id.startsWith('__') || JSON.stringify(schema).includes('"$ref":"#"')) {
      throw new Error("A schema contains itself, and has no name for that. Give it one: `.meta({ id: 'Tree' })`.");
    }
    if (named[id] && !isDeepStrictEqual(named[id], schema)) {
      throw new Error(
        `Two schemas have the id ${id}, or one schema differs between input and output (defaults, transforms). Use different ids.`,
      );
    }
    named[id] = schema;
  }

  return {
    read(schema, side) {
      const converted = schema['~standard'].jsonSchema[side]({ target: 'draft-2020-12' }) as JsonSchema;
      const { $schema: _version, $defs = {}, ...own } = converted;
      for (const [id, found] of Object.entries($defs as object)) keep(id, toNamed(found));
      return toNamed(own);
    },
    named: () => named,
  };
}

/** Points references to the document's schemas, and omits bounds that every integer satisfies. */
function toNamed(schema: object): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) => {
    if (key === '$ref' && typeof value === 'string') return value.replace(LOCAL, NAMED);
    if (key === 'minimum' && value === Number.MIN_SAFE_INTEGER) return undefined;
    return key === 'maximum' && value === Number.MAX_SAFE_INTEGER ? undefined : value;
  });
}
