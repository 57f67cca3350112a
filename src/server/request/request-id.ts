import { randomUUID } from 'node:crypto';
import type { Origins } from './origins.ts';
import { isFromProxy, type ProxyTrust, toClientAddress } from './proxy-trust.ts';
import { RequestInfo, runForRequest, setRequestInfo } from './request-info.ts';
import type { Step } from './step.ts';

/** Machines read the log, so an id has only plain characters, and not too many. */
const SAFE_ID = /^[A-Za-z0-9][\w.:-]{7,127}$/;

/** Gives each request its id, its trace and the context that its work runs in. A trusted proxy can set the id. */
export function requestId({ origins, trust }: { origins: Origins; trust: ProxyTrust }): Step {
  return function requestId(req, res, next) {
    const { headers } = req;
    const given = headers['x-request-id'];
    const accepted = typeof given === 'string' && SAFE_ID.test(given) && isFromProxy(req, trust);
    const id = accepted ? given : randomUUID();
    const traceparent = headers.traceparent;
    const info = new RequestInfo({
      requestId: id,
      method: req.method ?? '',
      headers,
      address: toClientAddress(req, trust),
      origin: origins.fallback,
      traceparent: typeof traceparent === 'string' ? traceparent : undefined,
    });
    setRequestInfo(req, info);
    res.setHeader('X-Request-Id', id);
    runForRequest(info, next);
  };
}
