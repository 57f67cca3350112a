import style from 'inline:src/server/engine/api/reference/reference.css';
import { createHash } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { renderToStaticMarkup } from 'react-dom/server';
import type { OpenApi, OpenApiOperation, OpenApiParameter, OpenApiReply } from '../openapi.ts';
import { Prose, SchemaType, SchemaView } from './schema-view.tsx';

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
