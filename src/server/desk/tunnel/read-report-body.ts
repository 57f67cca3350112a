import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import { MiB } from '../../../shared/units.ts';
import { VisitorGone } from '../../engine/errors/visitor-gone.ts';
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

export interface ReportBodies {
  /**
   * Reads and decodes a body of any type. What is refused unread is drained by Node, within the time
   * that a request may take, so that a kept connection stays in step. A sender that waits to be asked
   * (`Expect: 100-continue`) is asked once nothing speaks against it.
   *
   * @throws ReportError 413 for too many bytes, 415 for another coding, 400 for bytes that are not in it
   * @throws VisitorGone where the sender left
   */
  read(req: IncomingMessage, res: Pick<ServerResponse, 'writeContinue'>): Promise<Buffer>;
  /** Whether all bodies that are read at the moment hold as much memory as they may together. */
  readonly full: boolean;
}

/** @param maxHeldBytes what unfinished bodies may hold together: against many that come slowly at once */
export function createReportBodies({ maxHeldBytes = 64 * MiB } = {}): ReportBodies {
  let heldBytes = 0;

  return {
    get full() {
      return heldBytes >= maxHeldBytes;
    },
    async read(req, res) {
      const decode = requireDecoder(req.headers['content-encoding']);
      if (Number(req.headers['content-length'] ?? 0) > MAX_WIRE_BYTES) throw tooLarge(MAX_WIRE_BYTES);
      if (/^100-continue$/i.test(req.headers.expect ?? '')) res.writeContinue();
      let own = 0;
      try {
        const wire = await readWire(req, (size) => {
          own += size;
          heldBytes += size;
        });
        return decode ? await decode(wire) : wire;
      } finally {
        heldBytes -= own;
      }
    },
  };
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

function readWire(req: IncomingMessage, onBytes: (size: number) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    function finish(settle: () => void): void {
      req.off('data', take).off('end', end).off('close', gone).off('error', gone);
      settle();
    }
    function take(chunk: Buffer): void {
      size += chunk.length;
      if (size > MAX_WIRE_BYTES) {
        finish(() => reject(tooLarge(MAX_WIRE_BYTES)));
        req.resume(); // what has begun to be read is drained by nobody else
        return;
      }
      onBytes(chunk.length);
      chunks.push(chunk);
    }
    function end(): void {
      finish(() => resolve(Buffer.concat(chunks, size)));
    }
    function gone(): void {
      finish(() => reject(new VisitorGone()));
    }
    req.on('data', take).on('end', end).on('close', gone).on('error', gone);
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
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(MAX_DECODED_BYTES);
    throw new ReportError(400, 'The body is not encoded as its Content-Encoding says.');
  }
}

function tooLarge(limit: number): ReportError {
  return new ReportError(413, `The report is larger than ${limit / MiB} MiB.`);
}
