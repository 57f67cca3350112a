import type { IncomingMessage } from 'node:http';
import { MIMEType } from 'node:util';

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
