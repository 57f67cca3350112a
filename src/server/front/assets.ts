import { createReadStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { ASSET_PREFIX } from '../../shared/wire/protocol.ts';
import { acceptsEncoding, matchesEtag } from '../request/request-headers.ts';
import { requestInfo } from '../request/request-info.ts';
import { endWith, sendText } from '../request/send-body.ts';
import { isRead, type Step } from '../request/step.ts';
import { createAsset, type PublicFile, type Representation, SCRIPT_TYPE } from './public-files.ts';

export interface AssetsOptions {
  readonly files: ReadonlyMap<string, PublicFile>;
  /** Finds an asset of another build by its path, for pages that were open during a deploy. It must not reject. */
  readonly findOldAsset?: (path: string) => Promise<Uint8Array | undefined>;
  /** The content policy of JavaScript files. By default, workers of them can load nothing. */
  readonly scriptPolicy?: string;
  /** Passes unknown assets on to an existing app. By default, unknown paths under `/assets/` are 404. */
  readonly passesOn?: boolean;
}

/** Serves the built client from an index of its files. */
export function assets({ files, findOldAsset, scriptPolicy, passesOn = false }: AssetsOptions): Step {
  async function sendOld(req: IncomingMessage, res: ServerResponse, path: string, next: () => void): Promise<void> {
    const bytes = await findOldAsset?.(path);
    const file = bytes && createAsset(path, bytes);
    if (res.destroyed) return;
    if (file) send(req, res, file);
    else if (passesOn) next();
    else sendText(res, 404, 'There is no such file.');
  }

  function send(req: IncomingMessage, res: ServerResponse, file: PublicFile): void {
    // Also for 304, because a browser replaces the headers in its cache.
    if (scriptPolicy && file.type === SCRIPT_TYPE) res.setHeader('Content-Security-Policy', scriptPolicy);
    sendFile(req, res, file);
  }

  return function assets(req, res, next) {
    const { path } = requestInfo(req);
    const file = files.get(path);
    const isAsset = path.startsWith(ASSET_PREFIX);
    if (!file && !(isAsset && (isRead(req) || !passesOn))) return next();
    if (file || !passesOn) requestInfo(req).route = isAsset ? `${ASSET_PREFIX}*` : path;
    if (!isRead(req)) {
      res.setHeader('Allow', 'GET, HEAD');
      sendText(res, 405, 'A file can only be read.');
      return;
    }
    if (!file) return sendOld(req, res, path, next);
    send(req, res, file);
  };
}

/** Types that mails, feed readers and pages of other sites show. These files are the same for everyone. */
const EMBEDDED = /^(?:image|audio|video)\//;

function sendFile(req: IncomingMessage, res: ServerResponse, file: PublicFile): void {
  const chosen = chooseRepresentation(file, String(req.headers['accept-encoding'] ?? ''));
  res.setHeader('Cache-Control', file.cacheControl);
  res.setHeader('ETag', chosen.etag);
  if (EMBEDDED.test(file.type)) res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
  if (file.representations.length > 1) res.setHeader('Vary', 'Accept-Encoding');
  if (matchesEtag(req.headers['if-none-match'], chosen.etag)) {
    res.statusCode = 304;
    res.end();
    return;
  }
  res.setHeader('Content-Type', file.type);
  res.setHeader('Accept-Ranges', 'bytes');
  if (chosen.encoding) res.setHeader('Content-Encoding', chosen.encoding);
  sendBytes(req, res, chosen);
}

function sendBytes(req: IncomingMessage, res: ServerResponse, { etag, size, bytes, file }: Representation): void {
  const condition = req.headers['if-range'];
  const isRanged = req.method === 'GET' && (condition === undefined || condition === etag);
  const wanted = isRanged ? parseRange(req.headers.range, size) : undefined;
  if (wanted === 'unsatisfiable') {
    res.removeHeader('Content-Encoding');
    res.setHeader('Content-Range', `bytes */${size}`);
    sendText(res, 416, 'The file does not have that range.');
    return;
  }
  if (wanted) {
    res.statusCode = 206;
    res.setHeader('Content-Range', `bytes ${wanted.start}-${wanted.end}/${size}`);
  }
  const { start, end } = wanted ?? { start: 0, end: size - 1 };
  res.setHeader('Content-Length', end - start + 1);
  if (req.method === 'HEAD') {
    res.end();
  } else if (bytes) {
    endWith(res, wanted ? bytes.subarray(start, end + 1) : bytes);
  } else {
    // If the pipe breaks, the visitor has left or the file is gone, and the response has already ended.
    pipeline(createReadStream(file, { start, end }), res, () => undefined);
  }
}

function chooseRepresentation({ representations }: PublicFile, accepted: string): Representation {
  const isAccepted = ({ encoding }: Representation) => encoding === undefined || acceptsEncoding(accepted, encoding);
  return representations.find(isAccepted) as Representation; // the last one has no encoding
}

/** First and last byte, inclusive. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses one range of a representation (RFC 9110, section 14). Several ranges, other units and malformed headers are
 * ignored, as the RFC allows, so that the whole representation is sent.
 */
function parseRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '');
  if (!match || (match[1] === '' && match[2] === '')) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '')
    return Number(last) > 0 && size > 0 ? { start: Math.max(0, size - Number(last)), end: size - 1 } : 'unsatisfiable';
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return undefined;
  return start < size ? { start, end } : 'unsatisfiable';
}
