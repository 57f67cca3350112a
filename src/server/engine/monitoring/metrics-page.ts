import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendText } from '../request/refuse.ts';
import { requestInfo } from '../request/request-info.ts';
import type { Step } from '../request/step.ts';
import { type MayRead, refuseReader } from './may-read.ts';
import type { Metrics } from './metrics.ts';

export interface MetricsPageOptions {
  readonly metrics: Pick<Metrics, 'write' | 'contentType'>;
  readonly mayRead: MayRead;
}

const PATH = '/metrics';

/**
 * What Prometheus scrapes. It stands before the check of the host, because scrapers name an address as
 * probes do; what they must bring is a token, which no other site can make a browser send.
 */
export function metricsPage({ metrics, mayRead }: MetricsPageOptions): Step {
  return function metricsPage(req, res, next) {
    const info = requestInfo(req);
    if (info.path !== PATH) {
      next();
      return;
    }
    info.route = PATH;
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      res.setHeader('Allow', 'GET, HEAD');
      sendText(res, 405, 'Ask with GET.');
      return;
    }
    void answer(req, res, { metrics, mayRead });
  };
}

async function answer(req: IncomingMessage, res: ServerResponse, options: MetricsPageOptions): Promise<void> {
  const { metrics, mayRead } = options;
  let text: string;
  try {
    const may = await mayRead(req);
    if (may !== true) {
      refuseReader(res, may, 'The metrics are for operators.');
      return;
    }
    text = await metrics.write();
  } catch {
    sendText(res, 500, 'The metrics could not be read.');
    return;
  }
  res.setHeader('Content-Type', metrics.contentType);
  res.setHeader('Content-Length', Buffer.byteLength(text));
  res.setHeader('Cache-Control', 'no-store');
  res.end(req.method === 'HEAD' ? undefined : text);
}
