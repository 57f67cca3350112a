import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';

/** The parts of JSON Schema 2020-12 that are read. */
export interface JsonSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}

export interface JsonSchemas {
  /** @param side `input` for what callers send, `output` for what is answered */
  read(schema: z.core.$ZodType, side: 'input' | 'output'): JsonSchema;
  /** Schemas that have an id, by id. */
  named(): Readonly<Record<string, JsonSchema>>;
}

const LOCAL = '#/$defs/';
const NAMED = '#/components/schemas/';

/** Collects the schemas of one document. One with an id (`.meta({ id: 'Person' })`) appears once and is referenced. */
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
      const { $schema: _version, $defs = {}, ...own } = z.toJSONSchema(schema, { io: side });
      for (const [id, found] of Object.entries($defs)) keep(id, toNamed(found));
      return toNamed(own);
    },
    named: () => named,
  };
}

/** Points references to the document's components, and leaves out bounds that every safe integer meets. */
function toNamed(schema: object): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) => {
    if (key === '$ref' && typeof value === 'string') return value.replace(LOCAL, NAMED);
    if (key === 'minimum' && value === Number.MIN_SAFE_INTEGER) return undefined;
    return key === 'maximum' && value === Number.MAX_SAFE_INTEGER ? undefined : value;
  });
}
