import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';

/** What is read of a schema in JSON Schema 2020-12. */
export interface JsonSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}

export interface JsonSchemas {
  /** @param side `input` is what may be sent to be checked, `output` what is answered */
  read(schema: z.core.$ZodType, side: 'input' | 'output'): JsonSchema;
  /** Those that have an id, by it. */
  named(): Readonly<Record<string, JsonSchema>>;
}

const LOCAL = '#/$defs/';
const NAMED = '#/components/schemas/';

/** Schemas of one document: those with an id (`.meta({ id: 'Person' })`) stand once and are referred to. */
export function createJsonSchemas(): JsonSchemas {
  const named: Record<string, JsonSchema> = {};

  function keep(id: string, schema: JsonSchema): void {
    if (id.startsWith('__') || JSON.stringify(schema).includes('"$ref":"#"')) {
      throw new Error("A schema contains itself, and has no name for that. Give it one: `.meta({ id: 'Tree' })`.");
    }
    if (named[id] && !isDeepStrictEqual(named[id], schema)) {
      throw new Error(
        `Two schemas have the id ${id}, or one that reads something else than is sent (defaults, transforms). Name them apart.`,
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

/** Leads references to where the document has what they name, and leaves out bounds that any whole number keeps. */
function toNamed(schema: object): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) => {
    if (key === '$ref' && typeof value === 'string') return value.replace(LOCAL, NAMED);
    if (key === 'minimum' && value === Number.MIN_SAFE_INTEGER) return undefined;
    return key === 'maximum' && value === Number.MAX_SAFE_INTEGER ? undefined : value;
  });
}
