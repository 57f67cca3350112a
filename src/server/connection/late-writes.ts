import type { ServerResponse } from 'node:http';
import type { Funnel } from '../errors/funnel.ts';
import { requestInfo } from '../request/request-info.ts';
import { isStream, type Step } from '../request/step.ts';

/** A handler wrote to a reply that had already ended. */
export class LateWrite extends Error {
  constructor() {
    super('The reply had ended when more of it was written. Await what writes before calling end().');
    this.name = 'LateWrite';
  }
}

const WRITES = Symbol('spillway.writes');

/** The original `write` and `end` of a reply. */
class Writes {
  readonly write: (...args: unknown[]) => boolean;
  readonly end: (...args: unknown[]) => ServerResponse;

  constructor(response: ServerResponse) {
    this.write = response.write as Writes['write'];
    this.end = response.end as Writes['end'];
  }
}

interface Watched extends ServerResponse {
  [WRITES]: Writes;
}

/**
 * Reports a write after the end as a failure of that request, and keeps the reply complete. By itself, Node cuts a
 * reply that was not sent yet, and ignores the write if it was.
 */
export function lateWrites(funnel: Funnel): Step {
  function refuse(res: ServerResponse): void {
    if (isStream(res)) return; // the drain ended it, and its handler does not know yet
    const { req } = res;
    funnel.fail(new LateWrite(), { origin: 'request', info: requestInfo(req), headers: req.headers });
  }

  // One pair of functions for all replies. With a pair for each reply, pages survived two collections of the young
  // generation, a quarter of a megabyte each time.
  function writeInTime(this: Watched, ...args: unknown[]): boolean {
    if (!this.writableEnded) return this[WRITES].write.apply(this, args);
    refuse(this);
    return false;
  }

  function endOnce(this: Watched, ...args: unknown[]): ServerResponse {
    if (!this.writableEnded) return this[WRITES].end.apply(this, args);
    if (typeof args[0] === 'string' || args[0] instanceof Uint8Array) refuse(this);
    return this;
  }

  return function lateWrites(_req, res, next) {
    (res as Watched)[WRITES] = new Writes(res);
    res.write = writeInTime as typeof res.write;
    res.end = endOnce as typeof res.end;
    next();
  };
}
