import type { ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import type { Funnel } from '../errors/funnel.ts';
import { requestInfo } from './request-info.ts';

/** Something was written to a reply that was whole already. */
export class LateWrite extends Error {
  constructor() {
    super('The reply had ended when more of it was written. Await what writes before calling end().');
    this.name = 'LateWrite';
  }
}

/**
 * What a handler writes after the end is lost: Node cuts a reply that was not sent yet, and says
 * nothing of one that was. Here it is a failure of that request, and the reply stays whole.
 */
export function lateWrites({ funnel }: { funnel: Funnel }): RequestHandler {
  return function lateWrites(req, res, next) {
    const { write, end } = res;
    let ended = false;

    function refuse(): void {
      funnel.fail(new LateWrite(), { origin: 'request', info: requestInfo(req), headers: req.headers });
    }
    res.write = function writeInTime(this: ServerResponse, ...args: unknown[]): boolean {
      if (!ended) return write.apply(res, args as Parameters<typeof write>);
      refuse();
      return false;
    };
    res.end = function endOnce(this: ServerResponse, ...args: unknown[]) {
      if (!ended) {
        ended = true;
        return end.apply(res, args as unknown as Parameters<typeof end>);
      }
      if (typeof args[0] === 'string' || args[0] instanceof Uint8Array) refuse();
      return res;
    };
    next();
  };
}
