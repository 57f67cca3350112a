import { badRequest } from '../errors/http-error.ts';
import { decodePercent } from './decode-percent.ts';

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
