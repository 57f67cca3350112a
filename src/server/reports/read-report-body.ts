import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import { MiB } from '../../shared/units.ts';
import { bodies } from '../request/body-reader.ts';
import { ReportError } from './report-json.ts';

/** The largest body before decoding (bytes). A browser's event has at most a tenth of it. */
const MAX_WIRE_BYTES = MiB;
/** The largest decoded body (bytes). */
const MAX_DECODED_BYTES = 4 * MiB;

/** Without Brotli and zstd: Node's Brotli decoder has a vulnerability in every available version (CVE-2026-111497). */
const DECODERS: Readonly<Record<string, typeof decodeGzip>> = {
  gzip: decodeGzip,
  'x-gzip': decodeGzip,
  deflate: decodeDeflate,
};

/**
 * Reads and decodes a report of any type, and passes it to `use`. A sender with `Expect: 100-continue` gets 100 unless
 * its report is too large.
 *
 * @throws ReportError 413 if the decoded body is too large, 415 for another coding, 400 for a body that cannot be
 *   decoded
 * @throws the errors of `BodyReader`
 */
export async function readReport<Value>(
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
  throw new ReportError(415, 'The Content-Encoding is not supported. Send gzip, deflate or none.', {
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
    throw new ReportError(400, 'The body does not match its Content-Encoding.');
  }
}
