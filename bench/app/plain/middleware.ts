import compression from 'compression';
import type { RequestHandler } from 'express';
import helmet from 'helmet';
import { pinoHttp } from 'pino-http';
import { collectDefaultMetrics, Histogram } from 'prom-client';

collectDefaultMetrics();
const durations = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'The duration of requests.',
  labelNames: ['method', 'route', 'status'],
});

/** What a server in production usually has: a log, headers, compression and metrics. */
export const middleware: RequestHandler[] = [pinoHttp(), helmet(), compression(), countRequest];

function countRequest(...[request, response, next]: Parameters<RequestHandler>): void {
  const end = durations.startTimer({ method: request.method });
  response.on('finish', () => end({ route: request.route?.path, status: response.statusCode }));
  next();
}
