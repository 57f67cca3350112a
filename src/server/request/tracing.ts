import {
  context,
  ProxyTracerProvider,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { requestInfo } from './request-info.ts';
import { RequestSpans, setFailed, toTrace } from './request-spans.ts';
import { METHODS, type Step } from './step.ts';

/**
 * Finds the tracer of an OpenTelemetry SDK that was loaded before the server, with `--import`.
 *
 * @returns undefined without an SDK: then requests are not traced, at no cost
 */
export function findTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider();
  const isUnset =
    provider instanceof ProxyTracerProvider && provider.getDelegate() === new ProxyTracerProvider().getDelegate();
  return isUnset ? undefined : provider.getTracer('spillway');
}

/**
 * Makes a span for each request, by the semantic conventions for HTTP servers. If the SDK instruments `node:http`, its
 * span is used. Addresses of visitors, queries and secrets in paths are left out.
 */
export function tracing(tracer: Tracer, scrubPath: (path: string, route: string | undefined) => string): Step {
  return function tracing(req, res, next) {
    const info = requestInfo(req);
    const known = trace.getActiveSpan();
    const parent = known ? context.active() : propagation.extract(ROOT_CONTEXT, req.headers);
    const method = METHODS.has(info.method) ? info.method : '_OTHER';
    const { protocol, hostname, port } = info.url;
    const attributes = {
      'http.request.method': method,
      'url.scheme': protocol.slice(0, -1),
      'server.address': hostname,
      ...(port !== '' && { 'server.port': Number(port) }),
    };
    const name = method === '_OTHER' ? 'HTTP' : method;
    const span = known ?? tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent);
    const spans = new RequestSpans(tracer, span);
    info.spans = spans;
    info.trace = toTrace(span);
    // First, because an instrumentation of `node:http` ends its span here.
    res.prependOnceListener('close', () => {
      const { pattern: route, path } = info;
      if (route !== undefined) span.updateName(`${name} ${route}`).setAttribute('http.route', route);
      span.setAttributes({ 'url.path': scrubPath(path, route), 'http.response.status_code': res.statusCode });
      if (res.statusCode >= 500) setFailed(span, String(res.statusCode));
      spans.end();
      if (!known) span.end();
    });
    context.with(trace.setSpan(parent, span), () => next());
  };
}
