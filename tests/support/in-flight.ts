import type { InFlight } from '../../src/server/front/in-flight.ts';
import { RequestInfo } from '../../src/server/request/request-info.ts';

/** Records a request, as the step does. */
export function recordRequest(inFlight: InFlight, path: string, requestId = 'request-1'): RequestInfo {
  const info = new RequestInfo({ requestId, method: 'GET', address: '::1', origin: 'http://localhost' });
  inFlight.add();
  inFlight.record(info, path);
  return info;
}
