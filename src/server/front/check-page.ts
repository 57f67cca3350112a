import type { IncomingMessage, ServerResponse } from 'node:http';
import { Second } from '../../shared/units.ts';
import { isFromProxy, type ProxyTrust } from '../request/client-address.ts';
import { requestInfo } from '../request/request-info.ts';
import { onClose } from '../request/step.ts';
import { type CheckToken, forReaders } from './check-token.ts';
import type { FixedPaths } from './fixed-paths.ts';
import { readHost, readScheme } from './host-check.ts';

/** The path that `npm start -- --check <url>` posts to. */
export const CHECK_PATH = '/_check';

/** The pause between the first and the second line of the answer (ms). A proxy that collects answers removes it. */
export const CHECK_PAUSE = 1 * Second;

/** The `X-Forwarded-For` of the command: an address for documentation (RFC 5737), so no proxy has it. */
export const FORGED_ADDRESS = '203.0.113.7';

/** A request as the server saw it: the first line of the answer. */
export interface SeenRequest {
  /** The visitor's address, as in the log. */
  readonly address: string;
  readonly scheme: 'http' | 'https';
  readonly host: string | undefined;
  /** Whether TRUST_PROXY includes the other end of the connection. */
  readonly isPeerTrusted: boolean;
  /** Whether a proxy added a header or changed the forged address. */
  readonly isForwarded: boolean;
  /** The size of the body that arrived. */
  readonly bytes: number;
}

/**
 * Tells operators how their proxy passes on a request. The answer has two lines with a pause between them. It runs
 * before the host check, so that it can name the host that a proxy sent.
 */
export function checkPage({ trust, checkToken }: { trust: ProxyTrust; checkToken: CheckToken }): FixedPaths {
  function answer(req: IncomingMessage, res: ServerResponse): void {
    let bytes = 0;
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    req.on('error', () => undefined); // a caller that leaves needs no answer
    req.on('end', () => sendSeen(res, toSeen(req, bytes)));
  }

  function toSeen(req: IncomingMessage, bytes: number): SeenRequest {
    const isPeerTrusted = isFromProxy(req, trust);
    return {
      address: requestInfo(req).address,
      scheme: readScheme(req, isPeerTrusted),
      host: readHost(req, isPeerTrusted),
      isPeerTrusted,
      isForwarded:
        req.headers['x-forwarded-for'] !== FORGED_ADDRESS ||
        ['x-forwarded-proto', 'forwarded', 'via'].some((name) => name in req.headers),
      bytes,
    };
  }

  return { [CHECK_PATH]: { methods: 'POST', isHidden: true, answer: forReaders(checkToken, answer) } };
}

function sendSeen(res: ServerResponse, seen: SeenRequest): void {
  res.setHeader('Content-Type', 'text/plain; charset=utf-8');
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('X-Accel-Buffering', 'no');
  res.write(`${JSON.stringify(seen)}\n`);
  const timer = setTimeout(() => res.end('end\n'), CHECK_PAUSE);
  onClose(res, () => clearTimeout(timer));
}
