import { createHash } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { escapeHtml } from '../errors/escape-html.ts';
import type { OpenApi, OpenApiOperation } from './openapi.ts';

const STYLE = [
  ':root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}',
  'body{max-width:50rem;margin:0 auto;padding:1rem 1.5rem 4rem;background:light-dark(#fff,#0e1518)}',
  'a{color:light-dark(#00677a,#68cadb)}',
  'section{margin-top:2rem;border-top:1px solid}',
  'nav,h3,code,pre{overflow-wrap:anywhere}',
  'code,pre{font:.9rem ui-monospace,monospace}',
  'pre{white-space:pre-wrap}',
].join('');

/** The page has no script. */
export const REFERENCE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "img-src 'self'", // the icon
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Renders a page with the operations of a document. */
export function renderReference({ info, paths, components }: OpenApi): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
  );
  const links = operations.map(
    ({ name, operation }) => `<li><a href="#${escapeHtml(operation.operationId)}">${escapeHtml(name)}</a></li>`,
  );
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<section id="schema-${escapeHtml(name)}"><h3>${escapeHtml(name)}</h3>${toPre(schema)}</section>`,
  );
  const title = escapeHtml(info.title);
  return [
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex">',
    `<title>${title} · API reference</title><style>${STYLE}</style></head><body><main>`,
    `<h1>${title} ${escapeHtml(info.version)}</h1>${toParagraph(info.description)}`,
    '<p>For programs: <a href="openapi.json">openapi.json</a></p>',
    `<nav aria-label="Operations"><ul>${links.join('')}</ul></nav>`,
    ...operations.map(({ name, operation }) => renderOperation(name, operation)),
    `<h2>Schemas</h2>${schemas.join('')}</main></body></html>`,
  ].join('');
}

function renderOperation(name: string, operation: OpenApiOperation): string {
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
  const notes = [deprecated && 'deprecated', security.length > 0 && 'requires authentication'].filter(Boolean);
  const listed = parameters.map(
    ({ name, in: place, required, description = '', schema }) =>
      `<li><code>${escapeHtml(name)}</code> ${place}${required ? '' : ', optional'}: ` +
      `<code>${escapeHtml(JSON.stringify(schema))}</code> ${toProse(description)}</li>`,
  );
  return [
    `<section id="${escapeHtml(operationId)}"><h2>${escapeHtml(summary)}</h2>`,
    `<p><code>${escapeHtml(name)}</code> ${notes.join(', ')}</p>${toParagraph(description)}`,
    listed.length > 0 ? `<h3>Parameters</h3><ul>${listed.join('')}</ul>` : '',
    requestBody ? `<h3>Body</h3>${toPre(requestBody.content)}` : '',
    '<h3>Responses</h3>',
    ...Object.entries(responses).map(([status, { description: about, ...reply }]) => {
      const words = status === 'default' ? 'Others' : `${status} ${STATUS_CODES[status] ?? ''}`;
      return `<details><summary>${words}: ${toProse(about)}</summary>${toPre(reply)}</details>`;
    }),
    '</section>',
  ].join('');
}

function toParagraph(text: string | undefined): string {
  return text ? `<p>${toProse(text)}</p>` : '';
}

/** Text with `code`. */
function toProse(text: string): string {
  return escapeHtml(text).replace(/`([^`]*)`/g, '<code>$1</code>');
}

/** JSON in which references are links to their schemas. */
function toPre(value: object): string {
  const json = escapeHtml(JSON.stringify(value, undefined, 2));
  return `<pre>${json.replace(/#\/components\/schemas\/([\w.-]+)/g, '<a href="#schema-$1">$1</a>')}</pre>`;
}
