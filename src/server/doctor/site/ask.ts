import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { MiB, Second } from '../../../shared/units.ts';

/** How long an answer may take to its last byte (ms). */
const PATIENCE = 15 * Second;
/** More of a body is not read, and no more made of it (bytes). */
const MAX_READ_BYTES = 8 * MiB;

export interface Question {
  readonly path: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** With the token, where there is one. */
  readonly isAuthorized?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Each header as it came, names in lower case: two of one name are two. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** As it came. */
  readonly raw: Buffer;
  /** With its `Content-Encoding` undone; undefined where that cannot be. */
  readonly body: Buffer | undefined;
  /** When pieces of the body could be read (ms since it was asked). */
  readonly arrivals: readonly { readonly at: number; readonly text: string }[];
  /** This end of the connection, as the other one would see it without anything in between. */
  readonly local: { readonly address: string; readonly port: number };
  /** The address that the site's name had. */
  readonly remoteAddress: string;
}

/** No answer came. `code` is the system's (`ECONNREFUSED`), or `TIMEOUT`. */
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
 * Asks the site, each time on a connection of its own. Redirections are not followed, so that the token
 * goes nowhere else. Certificates are not checked here: that is a finding of its own, and whoever makes
 * this leaves the token out where they are not good.
 */
export function createAsk(site: URL, token?: string): Ask {
  const request = site.protocol === 'https:' ? requestHttps : requestHttp;
  return function ask({ path, method = 'GET', headers = {}, body, isAuthorized = false }) {
    const asked = performance.now();
    return new Promise((resolve, reject) => {
      const outgoing = request(new URL(path, site), {
        method,
        agent: false,
        rejectUnauthorized: false,
        headers: {
          'User-Agent': 'spillway-doctor',
          ...headers,
          ...(body && { 'Content-Length': String(body.length) }),
          ...(isAuthorized && token !== undefined && { Authorization: `Bearer ${token}` }),
        },
      });
      const late = new NoAnswerError('TIMEOUT');
      const timer = setTimeout(() => {
        // What waits for the rest of an answer hears of a cut connection alone.
        reject(late);
        outgoing.destroy(late);
      }, PATIENCE);
      outgoing.once('close', () => clearTimeout(timer));
      let isAnswered = false;
      outgoing.once('response', (incoming) => {
        isAnswered = true;
        readAnswer(incoming, asked).then(resolve, (error: unknown) => reject(toNoAnswer(error)));
      });
      // A proxy that refuses a body may stop reading it: what it answered counts.
      outgoing.on('error', (error) => {
        if (!isAnswered) reject(toNoAnswer(error));
      });
      outgoing.end(body);
    });
  };
}

function toNoAnswer(error: unknown): NoAnswerError {
  if (error instanceof NoAnswerError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'UNKNOWN';
  return new NoAnswerError(code);
}

async function readAnswer(incoming: IncomingMessage, asked: number): Promise<Answer> {
  const { localAddress = '', localPort = 0, remoteAddress = '' } = incoming.socket;
  const pieces: Buffer[] = [];
  const arrivals: { at: number; text: string }[] = [];
  const decoded: Buffer[] = [];
  const decoder = createDecoder(incoming.headers['content-encoding']);
  const take = (piece: Buffer) => {
    decoded.push(piece);
    arrivals.push({ at: performance.now() - asked, text: piece.toString('latin1') });
  };
  const ended = decoder && readDecoder(decoder, take);
  let size = 0;
  for await (const piece of incoming as AsyncIterable<Buffer>) {
    pieces.push(piece);
    size += piece.length;
    if (decoder) decoder.write(piece);
    else take(piece);
    if (size > MAX_READ_BYTES) break;
  }
  decoder?.end();
  const isSound = ended === undefined || (await ended);
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    fields: toFields(incoming.rawHeaders),
    raw: Buffer.concat(pieces),
    body: isSound ? Buffer.concat(decoded) : undefined,
    arrivals,
    local: { address: localAddress, port: localPort },
    remoteAddress,
  };
}

function createDecoder(encoding: string | undefined): Transform | undefined {
  if (encoding === 'gzip') return createGunzip();
  if (encoding === 'br') return createBrotliDecompress();
  return undefined;
}

/** @returns whether it was what it said */
function readDecoder(decoder: Transform, take: (piece: Buffer) => void): Promise<boolean> {
  let size = 0;
  decoder.on('data', (piece: Buffer) => {
    size += piece.length;
    if (size > MAX_READ_BYTES) decoder.destroy(new Error('It becomes too large.'));
    else take(piece);
  });
  return new Promise((resolve) => {
    decoder.once('end', () => resolve(true));
    decoder.on('error', () => resolve(false));
  });
}

function toFields(rawHeaders: readonly string[]): [name: string, value: string][] {
  const fields: [string, string][] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    fields.push([(rawHeaders[index] ?? '').toLowerCase(), rawHeaders[index + 1] ?? '']);
  }
  return fields;
}

/** JSON of an answer, or undefined where it is none. */
export function readJson<T>({ body }: Pick<Answer, 'body'>): T | undefined {
  try {
    return JSON.parse(String(body)) as T; // what our own server wrote
  } catch {
    return undefined;
  }
}
