import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import { MiB } from '../../../../shared/units.ts';
import type { BodyReader } from '../../../engine/api/body-reader.ts';
import { ReportError } from './report-error.ts';

/** What is read from the wire (bytes). A browser's event has at most a tenth of it. */
const MAX_WIRE_BYTES = MiB;
/** What it may decode to (bytes). */
const MAX_DECODED_BYTES = 4 * MiB;

/** Brotli and zstd are left out: Node's Brotli decoder has a hole in every version that can be had (CVE-2026-111497). */
const DECODERS: Readonly<Record<string, typeof decodeGzip>> = {
  gzip: decodeGzip,
  'x-gzip': decodeGzip,
  deflate: decodeDeflate,
};

/**
 * Reads and decodes a report of any type, and hands it to `use`. Node drains a report that is refused unread,
 * so a kept connection stays in step. A sender that waits to be asked (`Expect: 100-continue`) is asked unless
 * its report is too large.
 *
 * @throws ReportError 413 if it decodes to too many bytes, 415 for another coding, 400 for bytes not in that coding
 * @throws what `BodyReader` throws
 */
export async function readReport<Value>(
  bodies: BodyReader,
  { req, res }: { readonly req: IncomingMessage; readonly res: ServerResponse },
  use: (report: Buffer) => Promise<Value>,
): Promise<Value> {
  const decode = requireDecoder(req.headers['content-encoding']);
  const isAwaited = /^100-continue$/i.test(req.headers.expect ?? '');
  if (isAwaited && Number(req.headers['content-length'] ?? 0) <= MAX_WIRE_BYTES) res.writeContinue();
  return bodies.read({ req, res, limit: MAX_WIRE_BYTES, decode }, use);
}

function requireDecoder(header: string | undefined): typeof decodeGzip | undefined {
  const coding = header?.trim().toLowerCase() || 'identity';
  if (coding === 'identity') return undefined;
  const decode = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined;
  if (decode) return decode;
  throw new ReportError(415, 'The body has a Content-Encoding that is not taken here. Send gzip, deflate or none.', {
    'Accept-Encoding': 'gzip, deflate', // RFC 9110, section 15.5.16
  });
}

const gunzipAsync = promisify(gunzip);
const inflateAsync = promisify(inflate);

function decodeGzip(bytes: Buffer): Promise<Buffer> {
  return decodeWith((options) => gunzipAsync(bytes, options));
}

function decodeDeflate(bytes: Buffer): Promise<Buffer> {
  return decodeWith((options) => inflateAsync(bytes, options));
}

async function decodeWith(decode: (options: { maxOutputLength: number }) => Promise<Buffer>): Promise<Buffer> {
  try {
    return await decode({ maxOutputLength: MAX_DECODED_BYTES });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw new ReportError(413, `The report is larger than ${MAX_DECODED_BYTES / MiB} MiB.`);
    throw new ReportError(400, 'The body is not encoded as its Content-Encoding says.');
  }
}
