import script from 'inline:src/client/engine/api/send-requests.ts';
import style from 'inline:src/server/engine/api/reference/reference.css';
import { createHash } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { useId } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import type { OpenApi, OpenApiOperation, OpenApiParameter, OpenApiReply } from '../openapi.ts';
import { Prose, SchemaType, SchemaView } from './schema-view.tsx';

/** Nothing but the page's own script and style can run, and requests can only go to this site. */
export const REFERENCE_POLICY = [
  "default-src 'none'",
  `script-src '${toSource(script)}'`,
  `style-src '${toSource(style)}'`,
  "connect-src 'self'",
  "img-src 'self'", // the icon
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

function toSource(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** Renders a page with the operations of a document, and a form for each that sends a request. */
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
  const takesToken = Object.values(components.securitySchemes ?? {}).some(({ scheme }) => scheme === 'bearer');
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
          {takesToken && (
            <p>
              <label>
                Token, for requests from this page <input id="token" type="password" autoComplete="off" />
              </label>
            </p>
          )}
          <noscript>
            <p>To send requests from this page, turn on JavaScript.</p>
          </noscript>
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
        <script dangerouslySetInnerHTML={{ __html: script }} />
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
      {body && (
        <>
          <h3>Body</h3>
          <SchemaView schema={body.schema} />
        </>
      )}
      <h3>Responses</h3>
      {Object.entries(responses).map(([status, reply]) => (
        <Reply key={status} status={status} reply={reply} />
      ))}
      <h3>Send a request</h3>
      <form data-method={method} data-path={path} noValidate>
        {parameters.map((parameter) => (
          <Parameter key={`${parameter.in} ${parameter.name}`} {...parameter} />
        ))}
        {body && (
          <label>
            Body
            <textarea name="body" rows={5} spellCheck={false} defaultValue={toJson(body.example ?? {})} />
          </label>
        )}
        <button type="submit">Send</button>
        <output />
      </form>
    </section>
  );
}

function Parameter({ name, in: place, required, description, schema }: OpenApiParameter) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id}>
        <code>{name}</code> {place}
        {required ? '' : ', optional'}: <SchemaType schema={schema} />
        {description && (
          <small>
            <Prose of={description} />
          </small>
        )}
      </label>
      {schema.type === 'array' ? (
        <textarea id={id} name={`${place} ${name}`} rows={2} placeholder="One per line" />
      ) : (
        <input id={id} name={`${place} ${name}`} autoComplete="off" />
      )}
    </div>
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
