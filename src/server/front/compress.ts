import { ServerResponse } from 'node:http';
import { type BrotliCompress, constants, createBrotliCompress, createGzip, type Gzip } from 'node:zlib';
import { KiB } from '../../shared/units.ts';
import { addVary, type Coding, chooseCoding } from '../request/request-headers.ts';
import type { Step } from '../request/step.ts';

/** Node's default quality, 11, takes 200 ms for a page. */
const STREAM_BROTLI_QUALITY = 4;

/** A smaller body fits into the same packet uncompressed (bytes). */
export const FEWEST_BYTES = 1 * KiB;

/** Without server-sent events: compression takes half a megabyte for each connection, and these stay open. */
const TEXT_TYPES =
  /^(?:text\/(?!event-stream\b)|[^;]+\+(?:json|text|xml)\b|application\/(?:json|(?:x-)?(?:javascript|ndjson)|xml|wasm|x-www-form-urlencoded)\b|font\/[ot]tf\b|image\/bmp\b)/i;

const PACKING = Symbol('spillway.packing');

interface Packed extends ServerResponse {
  [PACKING]: Packing;
}

/** What `compress` knows about a response. */
class Packing {
  readonly coding: Coding | undefined;
  isExcluded = false;
  /** Of a body that was passed at once (bytes). */
  size: number | undefined;
  packer: BrotliCompress | Gzip | undefined;
  isFlushDue = false;

  constructor(coding: Coding | undefined) {
    this.coding = coding;
  }
}

/** Node's own methods, which those below replace. They take what a handler passes. */
const node = ServerResponse.prototype as unknown as {
  writeHead(...args: unknown[]): ServerResponse;
  write(...args: unknown[]): boolean;
  end(...args: unknown[]): ServerResponse;
};

/** Excludes this response from `compress`. Call it before the headers are sent. */
export function leaveUncompressed(res: ServerResponse): void {
  const packing = (res as Partial<Packed>)[PACKING];
  if (packing) packing.isExcluded = true;
}

/**
 * Compresses responses that are made for one request, and sends what they have written at the end of each turn of the
 * event loop. It decides when the head is written. All responses share three functions, and only one that is compressed
 * has a stream and listeners: with those of the package `compression`, an API answer took 11 % more time.
 */
export const compress: Step = (_req, res, next) => {
  compressResponse(res);
  next();
};

/** The same for one response, before its head is written. */
export function compressResponse(res: ServerResponse): void {
  const { req } = res;
  const coding = chooseCoding(req);
  (res as Packed)[PACKING] = new Packing(coding);
  res.writeHead = writeHead as typeof res.writeHead;
  if (!coding || req.method === 'HEAD') return;
  res.write = write as typeof res.write;
  res.end = end as typeof res.end;
}

function writeHead(this: Packed, status: number, ...rest: unknown[]): ServerResponse {
  const packing = this[PACKING];
  const { size = 0 } = packing;
  if (packing.isExcluded || this.headersSent) return node.writeHead.call(this, status, ...rest);
  for (const headers of rest) if (typeof headers === 'object' && headers !== null) addHeaders(this, headers);
  const isPacked = canPack(this, status, packing.size) && packing.coding !== undefined;
  if (isPacked) {
    // The length of the response to GET is only known after compression (RFC 9110, section 8.6).
    this.removeHeader('Content-Length');
    // Ranges are of the bytes without compression, so they cannot complete a download that began with it.
    this.removeHeader('Accept-Ranges');
  } else if (size >= FEWEST_BYTES && hasLength(this, status)) {
    this.setHeader('Content-Length', size); // `end()` called this, so Node does not know it
  }
  const coding = this.req.method === 'HEAD' ? undefined : isPacked && packing.coding;
  if (coding) this.setHeader('Content-Encoding', coding);
  node.writeHead.call(this, status, ...rest.filter((reason) => typeof reason === 'string'));
  if (coding) packing.packer = open(this, coding);
  return this;
}

/** Adds the headers of `writeHead()` to those that were set before, as Node does. */
function addHeaders(res: ServerResponse, headers: object): void {
  if (!Array.isArray(headers)) {
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value as string);
    return;
  }
  const list = headers.flat() as string[];
  const names = list.filter((_, index) => index % 2 === 0);
  for (const name of names) res.removeHeader(name);
  for (const [index, name] of names.entries()) res.appendHeader(name, list[index * 2 + 1] ?? '');
}

/** Adds `Vary` to each response that is compressed for some clients, and returns whether this one is large enough. */
function canPack(res: ServerResponse, status: number, given: number | undefined): boolean {
  // A strong validator identifies exactly these bytes, so the handler has already chosen the coding.
  if (String(res.getHeader('ETag') ?? '').startsWith('"')) return false;
  // A 304 has no type and no body, but names the headers that chose the response (RFC 9110, section 15.4.5).
  if (status !== 304 && !TEXT_TYPES.test(String(res.getHeader('Content-Type') ?? ''))) return false;
  if (/\bno-transform\b/i.test(String(res.getHeader('Cache-Control') ?? ''))) return false;
  addVary(res, 'Accept-Encoding');
  if (status === 204 || status === 206 || status === 304 || res.hasHeader('Content-Range')) return false;
  const size = given ?? Number(res.getHeader('Content-Length') ?? FEWEST_BYTES);
  return size >= FEWEST_BYTES && !res.hasHeader('Content-Encoding');
}

/** Whether Node would send the length of a body that it knows. */
function hasLength(res: ServerResponse, status: number): boolean {
  const others = ['Content-Length', 'Transfer-Encoding', 'Trailer'];
  return status !== 204 && status !== 304 && !others.some((name) => res.hasHeader(name));
}

function open(res: ServerResponse, coding: Coding): BrotliCompress | Gzip {
  const params = { [constants.BROTLI_PARAM_QUALITY]: STREAM_BROTLI_QUALITY };
  const packer = coding === 'br' ? createBrotliCompress({ params }) : createGzip();
  packer.on('data', (bytes: Buffer) => {
    if (!node.write.call(res, bytes)) packer.pause();
  });
  packer.on('end', () => node.end.call(res));
  packer.on('drain', () => res.emit('drain'));
  res.on('drain', () => void (res.writableNeedDrain || packer.resume()));
  res.on('close', () => packer.destroy());
  return packer;
}

function write(this: Packed, ...args: unknown[]): boolean {
  const packing = this[PACKING];
  if (isChunk(args[0]) && !this.headersSent) this.writeHead(this.statusCode);
  const { packer } = packing;
  if (!packer) return node.write.apply(this, args);
  if (!packing.isFlushDue) {
    setImmediate(() => {
      packing.isFlushDue = false;
      if (!packer.destroyed) packer.flush();
    });
  }
  packing.isFlushDue = true;
  return packer.write(...(args as Parameters<typeof packer.write>));
}

function end(this: Packed, ...args: unknown[]): ServerResponse {
  const packing = this[PACKING];
  const [chunk, encoding] = args;
  if (!this.headersSent && !packing.isExcluded) {
    packing.size = isChunk(chunk) ? Buffer.byteLength(chunk, encoding as BufferEncoding) : 0;
    if (packing.size >= FEWEST_BYTES) this.writeHead(this.statusCode);
  }
  const { packer } = packing;
  if (!packer) return node.end.apply(this, args);
  const isCallback = (value: unknown): value is () => void => typeof value === 'function';
  const callback = args.find(isCallback);
  if (callback) this.once('finish', callback);
  packer.end(...(args.filter((value) => !isCallback(value)) as [Uint8Array]));
  // As after Node's own `end()`. Until then, what is still being compressed would look like a reply without its end.
  Object.defineProperty(this, 'writableEnded', { value: true });
  return this;
}

/** Node throws for anything else, before it sends a head. */
function isChunk(value: unknown): value is string | Uint8Array {
  return typeof value === 'string' || value instanceof Uint8Array;
}
