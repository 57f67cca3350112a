import type { IncomingMessage } from 'node:http';
import { MIMEType } from 'node:util';
import { decodePercent } from './decode-percent.ts';
import { badRequest } from './http-error.ts';

/**
 * Parses `Content-Type` by the rules of browsers, which `FormData` follows too: two readings of a boundary or a charset
 * would let a sender pass the checks with one of them. Undefined if it is missing or malformed.
 */
export function readContentType({ headers }: Pick<IncomingMessage, 'headers'>): MIMEType | undefined {
  try {
    return new MIMEType(headers['content-type'] ?? '');
  } catch {
    return undefined;
  }
}

/** True if the type says UTF-8 or nothing. */
export function isInUtf8({ params }: MIMEType): boolean {
  return (params.get('charset') ?? 'utf-8').toLowerCase() === 'utf-8';
}

/** @throws HttpError 400 for invalid UTF-8, which `toString('utf8')` would replace by other characters */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw badRequest('The body is not UTF-8.');
  }
}

/**
 * Decodes the text of `application/x-www-form-urlencoded`, except for its percent-encodings, which must be UTF-8 too. A
 * `%` that encodes nothing is kept, as in the browsers' own parser.
 *
 * @throws HttpError 400
 */
export function decodeFormText(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  for (const [encoded] of text.matchAll(/(?:%[0-9a-f]{2})+/gi)) {
    if (/%[89a-f]/i.test(encoded) && decodePercent(encoded) === undefined)
      throw badRequest('The form has a percent-encoding that is not UTF-8.');
  }
  return text;
}
