import style from 'inline:src/server/api/reference/reference.css';
import { createHash } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { Fragment, type ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import type { JsonSchema } from '../json-schemas.ts';
import type { OpenApi, OpenApiOperation, OpenApiParameter, OpenApiReply } from '../openapi.ts';

/** The page has no script. */
export const REFERENCE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "img-src 'self'", // the icon
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Renders a page with the operations of a document. */
export function renderReference(document: OpenApi): string {
  return `<!DOCTYPE html>${renderToStaticMarkup(<Reference document={document} />)}`;
}

interface Entry {
  readonly method: string;
  readonly path: string;
  readonly operation: OpenApiOperation;
}

function Reference({ document }: { readonly document: OpenApi }) {
  const { info, paths, components } = document;
  const entries = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Entry => ({ method: method.toUpperCase(), path, operation })),
  );
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width,initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>{`${info.title} · API reference`}</title>
        <style dangerouslySetInnerHTML={{ __html: style }} />
      </head>
      <body>
        <nav aria-label="Operations">
          <ul>
            {entries.map(({ method, path, operation }) => (
              <li key={operation.operationId}>
                <a href={`#${operation.operationId}`}>
                  <b className={method}>{method}</b> {path}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <main>
          <h1>
            {info.title} <small>{info.version}</small>
          </h1>
          {info.description && (
            <p>
              <Prose of={info.description} />
            </p>
          )}
          <p>
            For programs: <a href="openapi.json">openapi.json</a>
          </p>
          {entries.map((entry) => (
            <Operation key={entry.operation.operationId} {...entry} />
          ))}
          <h2>Schemas</h2>
          {Object.entries(components.schemas).map(([name, schema]) => (
            <section key={name} id={`schema-${name}`}>
              <h3>{name}</h3>
              {schema.description && (
                <p>
                  <Prose of={schema.description} />
                </p>
              )}
              <SchemaView schema={schema} />
            </section>
          ))}
        </main>
      </body>
    </html>
  );
}

function Operation({ method, path, operation }: Entry) {
  const {
    operationId,
    summary,
    description,
    deprecated,
    parameters = [],
    requestBody,
    responses,
    security,
  } = operation;
  const body = requestBody?.content['application/json'];
  return (
    <section id={operationId} className="operation">
      <h2>{summary}</h2>
      <p>
        <b className={method}>{method}</b> <code>{path}</code>
        {deprecated && <mark className="note">deprecated</mark>}
        {security.length > 0 && <small className="note">requires authentication</small>}
      </p>
      {description && (
        <p>
          <Prose of={description} />
        </p>
      )}
      {parameters.length > 0 && (
        <>
          <h3>Parameters</h3>
          <ul className="fields">
            {parameters.map((parameter) => (
              <Parameter key={`${parameter.in} ${parameter.name}`} {...parameter} />
            ))}
          </ul>
        </>
      )}
      {body && (
        <>
          <h3>Body</h3>
          <SchemaView schema={body.schema} />
          {body.example !== undefined && <pre>{toJson(body.example)}</pre>}
        </>
      )}
      <h3>Responses</h3>
      {Object.entries(responses).map(([status, reply]) => (
        <Reply key={status} status={status} reply={reply} />
      ))}
    </section>
  );
}

function Parameter({ name, in: place, required, description, schema }: OpenApiParameter) {
  return (
    <li>
      <code>{name}</code> {place}
      {required ? '' : ', optional'}: <SchemaType schema={schema} /> {description && <Prose of={description} />}
    </li>
  );
}

function Reply({ status, reply }: { readonly status: string; readonly reply: OpenApiReply }) {
  const [type, content] = Object.entries(reply.content ?? {})[0] ?? [];
  return (
    <details>
      <summary>
        <b>{status === 'default' ? 'Others' : `${status} ${STATUS_CODES[status] ?? ''}`}</b>{' '}
        <Prose of={reply.description} />
      </summary>
      {Object.entries(reply.headers ?? {}).map(([name, { description }]) => (
        <p key={name}>
          <code>{name}</code>: <Prose of={description} />
        </p>
      ))}
      {content && (
        <>
          <div>
            <code>{type}</code>: <SchemaView schema={content.schema} />
          </div>
          {content.example !== undefined && <pre>{toJson(content.example)}</pre>}
        </>
      )}
    </details>
  );
}

function toJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}

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
function SchemaView({ schema }: { readonly schema: JsonSchema }): ReactNode {
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
function SchemaType({ schema }: { readonly schema: JsonSchema }): ReactNode {
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
function Prose({ of }: { readonly of: string }): ReactNode {
  return of.split('`').map((text, index) => (index % 2 === 1 ? <code key={index}>{text}</code> : text));
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null;
}

function isSchemas(value: unknown): value is readonly JsonSchema[] {
  return Array.isArray(value) && value.every(isSchema);
}
