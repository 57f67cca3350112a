import { Fragment, type ReactNode } from 'react';
import type { JsonSchema } from '../json-schemas.ts';

/** Keywords that need no words of their own: `minLength: 1`. */
const BOUNDS = [
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'default',
];

/** What a schema describes. Named schemas are links to their description. */
export function SchemaView({ schema }: { readonly schema: JsonSchema }): ReactNode {
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length === 0) return <SchemaType schema={schema} />;
  return (
    <ul className="fields">
      {properties.map(([name, inner]) => (
        <li key={name}>
          <code>{name}</code> {schema.required?.includes(name) ? '' : <i>optional </i>}
          <SchemaType schema={inner} />
          {inner.description && (
            <>
              {' '}
              <Prose of={inner.description} />
            </>
          )}
          {inner.properties && <SchemaView schema={inner} />}
        </li>
      ))}
    </ul>
  );
}

/** The type in a few words, such as "list of Todo" or "string minLength: 1". */
export function SchemaType({ schema }: { readonly schema: JsonSchema }): ReactNode {
  const { $ref, type, format, anyOf, oneOf, allOf, items, enum: values } = schema;
  if (typeof $ref === 'string') {
    const name = $ref.slice($ref.lastIndexOf('/') + 1);
    return <a href={`#schema-${name}`}>{name}</a>;
  }
  const [choices, word] = allOf ? [allOf, ' and '] : [anyOf ?? oneOf, ' or '];
  if (isSchemas(choices)) return joinBy(word, choices, (one) => <SchemaType schema={one} />);
  const known = 'const' in schema ? [schema.const] : values;
  if (Array.isArray(known)) return joinBy(' or ', known, (value) => <code>{JSON.stringify(value)}</code>);
  if (type === 'array') {
    return (
      <>
        list of {isSchema(items) ? <SchemaType schema={items} /> : 'anything'}
        <Bounds of={schema} />
      </>
    );
  }
  return (
    <>
      {type === undefined ? 'anything' : [type].flat().join(' or ')}
      {typeof format === 'string' && ` (${format})`}
      <Bounds of={schema} />
    </>
  );
}

function Bounds({ of }: { readonly of: JsonSchema }): ReactNode {
  return BOUNDS.filter((name) => of[name] !== undefined).map((name) => (
    <span key={name} className="bound">
      {name}: {JSON.stringify(of[name])}
    </span>
  ));
}

function joinBy<Part>(word: string, parts: readonly Part[], show: (part: Part) => ReactNode): ReactNode {
  return parts.map((part, index) => (
    <Fragment key={JSON.stringify(part)}>
      {index > 0 && word}
      {show(part)}
    </Fragment>
  ));
}

/** Text with `code`. */
export function Prose({ of }: { readonly of: string }): ReactNode {
  return of.split('`').map((text, index) => (index % 2 === 1 ? <code key={index}>{text}</code> : text));
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null;
}

function isSchemas(value: unknown): value is readonly JsonSchema[] {
  return Array.isArray(value) && value.every(isSchema);
}
