import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { PassThrough, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { MiB, Second } from '../../../shared/units.ts';

/** How long a response can take to its last byte (ms). */
const TIMEOUT = 15 * Second;
/** The largest body that is read (bytes, decompressed). */
const MAX_BODY_BYTES = 8 * MiB;

export interface Question {
  readonly path: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** Sends the token, if there is one. */
  readonly isAuthorized?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The values of each header, one for each time that it was sent. */
  readonly distinct: IncomingMessage['headersDistinct'];
  /** Decompressed as its `Content-Encoding` says; undefined if that fails or it is too large. */
  readonly body: Buffer | undefined;
  /** When pieces of the body arrived (ms since the request). */
  readonly arrivals: readonly { readonly at: number; readonly text: string }[];
  /** This end of the connection: the server sees the same if no proxy is in between. */
  readonly local: { readonly address: string; readonly port: number };
  /** The address that the site's name resolved to. */
  readonly remoteAddress: string;
}

/** Thrown if there was no response. `code` is the system's (`ECONNREFUSED`), or `TIMEOUT`. */
export class NoAnswerError extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.name = 'NoAnswerError';
    this.code = code;
  }
}

/** @throws NoAnswerError */
export type Ask = (question: Question) => Promise<Answer>;

/**
 * Creates a function that sends requests to the site, each on a new connection. Redirects are not followed, so that the
 * token is not sent elsewhere. Certificates are not verified here: a separate check does that, and no token is passed
 * without a trusted one.
 */
export function createAsk(site: URL, token?: string): Ask {
  const request = site.protocol === 'https:' ? requestHttps : requestHttp;
  return async function ask({ path, method = 'GET', headers, body, isAuthorized = false }) {
    const askedAt = performance.now();
    const signal = AbortSignal.timeout(TIMEOUT);
    const outgoing = request(new URL(path, site), {
      method,
      agent: false,
      rejectUnauthorized: false,
      signal,
      headers: {
        'User-Agent': 'spillway-doctor',
        ...headers,
        ...(body && { 'Content-Length': String(body.length) }),
        ...(isAuthorized && token !== undefined && { Authorization: `Bearer ${token}` }),
      },
    });
    // A proxy that refuses a body can stop reading it. Its response still counts.
    outgoing.on('error', () => undefined);
    try {
      const [incoming] = (await once(outgoing.end(body), 'response')) as [IncomingMessage];
      return await readAnswer(incoming, askedAt);
    } catch (error) {
      throw new NoAnswerError(signal.aborted ? 'TIMEOUT' : toCode(error));
    }
  };
}

/** Returns the system's code of an error, such as `ECONNREFUSED`. */
export function toCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}

const DECODERS: ReadonlyMap<string | undefined, () => Transform> = new Map([
  ['gzip', createGunzip],
  ['br', createBrotliDecompress],
]);

async function readAnswer(incoming: IncomingMessage, askedAt: number): Promise<Answer> {
  const { localAddress = '', localPort = 0, remoteAddress = '' } = incoming.socket;
  const arrivals: { at: number; text: string }[] = [];
  const body = await readBody(incoming, (piece) => {
    arrivals.push({ at: performance.now() - askedAt, text: piece.toString('latin1') });
  });
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    distinct: incoming.headersDistinct,
    body,
    arrivals,
    local: { address: localAddress, port: localPort },
    remoteAddress,
  };
}

/** @returns undefined if it cannot be decompressed or is too large. @throws the system's error for a cut connection */
async function readBody(incoming: IncomingMessage, onPiece: (piece: Buffer) => void): Promise<Buffer | undefined> {
  const decoder = DECODERS.get(incoming.headers['content-encoding'])?.() ?? new PassThrough();
  incoming.once('error', (error) => decoder.destroy(error));
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of incoming.pipe(decoder) as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > MAX_BODY_BYTES) return undefined;
      pieces.push(piece);
      onPiece(piece);
    }
    return Buffer.concat(pieces);
  } catch {
    if (incoming.errored) throw incoming.errored;
    return undefined;
  } finally {
    incoming.destroy();
  }
}

/** Parses the body. @returns undefined if it is not JSON */
export function readJson<T>({ body }: Pick<Answer, 'body'>): T | undefined {
  try {
    return JSON.parse(String(body)) as T; // what our own server wrote
  } catch {
    return undefined;
  }
}
