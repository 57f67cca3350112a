import type { ServerResponse } from 'node:http';
import { constants } from 'node:zlib';
import compression from 'compression';
import type { Request, Response } from 'express';
import { WIRE_TYPE } from '../../shared/wire/protocol.ts';
import { addVary } from '../request/request-headers.ts';
import type { Step } from '../request/step.ts';

/** Node's default quality, 11, takes 200 ms for a page. */
const BROTLI_QUALITY = 4;

const uncompressed = new WeakSet<ServerResponse>();
/** `Content-Encoding` as the handler set it, for each response that the library has seen. */
const handlersEncoding = new WeakMap<ServerResponse, ReturnType<ServerResponse['getHeader']>>();

/** Excludes this response from `compress()`. Call it before the headers are sent. */
export function leaveUncompressed(res: ServerResponse): void {
  uncompressed.add(res);
}

/**
 * Compresses responses that are made for one request. By itself, the library holds back what streams write and never
 * calls the callbacks of `write()` and `end()`. This step calls them, and flushes at the end of each turn of the
 * event loop.
 */
export function compress(): Step {
  const library = compression({
    brotli: { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } },
    filter(request, response: Response) {
      if (uncompressed.has(response)) return false;
      handlersEncoding.set(response, response.getHeader('Content-Encoding'));
      // A 304 has no type and no body, but names the headers that chose the response (RFC 9110, section 15.4.5).
      if (response.statusCode === 304) addVary(response, 'Accept-Encoding');
      // A strong validator identifies exactly these bytes, so the handler has already chosen the coding.
      if (String(response.getHeader('ETag') ?? '').startsWith('"')) return false;
      // Page data is text with a custom type that the library's list does not have.
      const takes = response.getHeader('Content-Type') === WIRE_TYPE || compression.filter(request, response);
      // The length of the response to GET is only known after compression (RFC 9110, section 8.6).
      if (takes && request.method === 'HEAD') response.removeHeader('Content-Length');
      return takes;
    },
  });
  return function compress(req, res, next) {
    const { write, end } = res;
    library(req as Request, res as Response, () => undefined); // it uses nothing of Express
    const { write: pack, end: packAndEnd } = res;
    let isFlushDue = false;

    function flush(): void {
      isFlushDue = false;
      if (!res.destroyed) (res as Response).flush();
    }

    /** The library decides by a head. If Node then refuses that head, what follows is another response. */
    function isPlain(): boolean {
      return uncompressed.has(res) || (handlersEncoding.has(res) && !res.headersSent);
    }

    res.write = ((chunk: unknown, ...rest: unknown[]) => {
      if (isPlain() || !isChunk(chunk)) return Reflect.apply(write, res, [chunk, ...rest]);
      // The library decides here whether to compress.
      if (!res.headersSent) res.writeHead(res.statusCode);
      if (!isCompressed(res)) return Reflect.apply(write, res, [chunk, ...rest]);
      const isTaken: boolean = Reflect.apply(pack, res, [chunk, ...rest.filter(isEncoding)]);
      const callback = rest.find(isCallback);
      if (callback && isTaken) process.nextTick(callback);
      else if (callback) res.once('drain', callback);
      if (!isFlushDue) setImmediate(flush);
      isFlushDue = true;
      return isTaken;
    }) as typeof res.write;

    res.end = ((...args: unknown[]) => {
      const [chunk] = args;
      if (isPlain() || (chunk && !isChunk(chunk) && !isCallback(chunk))) return Reflect.apply(end, res, args);
      const callback = args.find(isCallback);
      if (callback) res.once('finish', callback);
      Reflect.apply(packAndEnd, res, isCallback(chunk) ? [] : [chunk, ...args.slice(1).filter(isEncoding)]);
      return res;
    }) as typeof res.end;
    next();
  };
}

function isCompressed(res: ServerResponse): boolean {
  return handlersEncoding.has(res) && res.getHeader('Content-Encoding') !== handlersEncoding.get(res);
}

/** Node throws for anything else, before it sends a head. */
const isChunk = (value: unknown): boolean => typeof value === 'string' || value instanceof Uint8Array;
const isEncoding = (value: unknown): value is BufferEncoding => typeof value === 'string';
const isCallback = (value: unknown): value is () => void => typeof value === 'function';
