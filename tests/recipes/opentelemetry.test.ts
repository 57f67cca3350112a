import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { listenInTest } from '../support/listen.ts';
import { createVisitor, project } from '../support/owned-app.ts';
import { until } from '../support/until.ts';
import { useRecipe } from './recipe.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const CLIENT = 3;
const SERVER = 2;
const ERROR = 2;

interface Span {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly status: { readonly code?: number; readonly message?: string };
  readonly attributes: Readonly<Record<string, unknown>>;
}

type Attributes = readonly { key: string; value: Record<string, unknown> }[];

/** OTLP writes 64-bit integers as text. */
function toAttributes(attributes: Attributes = []): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      return [key, 'intValue' in value ? Number(value.intValue) : Object.values(value)[0]];
    }),
  );
}

const app = useRecipe('opentelemetry', (it) => {
  it.write({
    'src/server/product/pages/index.ts': `
      import { redirect, report } from '#engine';
      export const pages = {
        root: { guard() {} },
        home: {
          async loader({ url, context }) {
            if (url.searchParams.has('away')) redirect('/elsewhere');
            if (url.searchParams.has('report')) report(new Error('Handled.'));
            if (url.searchParams.has('fail')) throw new TypeError('The password=hunter2 is wrong.');
            const reply = await context.fetch(process.env.UPSTREAM + '/orders?token=secret');
            return reply.status;
          },
          actions: { async pay() {} },
        },
      };`,
    'src/shared/product/pages/home/home.tsx': `
      export default function Home({ data, }) {
        if (globalThis.location === undefined && data === 418) throw new RangeError('Not in a render.');
        return <h1>{String(data)}</h1>;
      }`,
  });
});

/** A stand-in for a collector, which decodes OTLP in JSON. */
async function startCollector() {
  const spans: Span[] = [];
  const services = new Set<unknown>();
  const received: string[] = [];
  const answer = { status: 200 };
  const server = createServer(async (req, res) => {
    const body = await text(req);
    if (req.url !== '/v1/traces') {
      received.push(String(req.headers.traceparent));
      return res.writeHead(answer.status).end('[]');
    }
    for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans) {
      services.add(toAttributes(resource.attributes)['service.name']);
      for (const span of scopeSpans.flatMap((scope: { spans: object[] }) => scope.spans))
        spans.push({ ...span, attributes: toAttributes(span.attributes) });
    }
    return res.setHeader('Content-Type', 'application/json').end('{}');
  });
  return {
    url: `http://127.0.0.1:${await listenInTest(server)}`,
    spans,
    services,
    received,
    answer,
    find: (name: string) => spans.find((span) => span.name === name),
    /** Waits for the span of a request, which ends last. */
    ended: (name: string) => until(() => spans.some((span) => span.name === name), name),
  };
}

type Collector = Awaited<ReturnType<typeof startCollector>>;

async function start(collector: Collector, how = '--import ./otel.mjs') {
  const running = await app.start({
    NODE_OPTIONS: how,
    OTEL_SERVICE_NAME: 'shop',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    UPSTREAM: collector.url,
    TRACE_TARGETS: collector.url,
  });
  return { ...running, visitor: createVisitor(running.url) };
}

it('sends a span of each part of a page, within the trace of the caller', async () => {
  const collector = await startCollector();
  const { url, visitor } = await start(collector);
  const reply = await visitor.get('/?token=secret', {
    accept: 'text/html',
    traceparent: `00-${TRACE}-${CALLER}-01`,
  });
  const html = await reply.text();
  await fetch(`${url}/livez`);
  await collector.ended('GET /');

  const { spans, find } = collector;
  const [request, fetched] = [find('GET /'), find('GET')];
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
  expect(collector.services).toEqual(new Set(['shop']));
  expect(spans.map(({ name }) => name).sort()).toEqual(['GET', 'GET /', 'guard root', 'loader home', 'render']);
  expect(request).toMatchObject({ kind: SERVER, parentSpanId: CALLER, status: {} });
  expect(request?.attributes).toEqual({
    'http.request.method': 'GET',
    'http.route': '/',
    'http.response.status_code': 200,
    'server.address': '127.0.0.1',
    // The site does not know the port that the system has chosen.
    'server.port': expect.any(Number),
    'url.path': '/',
    'url.scheme': 'http',
  });
  for (const name of ['guard root', 'loader home', 'render'])
    expect(find(name)?.parentSpanId, name).toBe(request?.spanId);
  expect(fetched).toMatchObject({ kind: CLIENT, parentSpanId: find('loader home')?.spanId, status: {} });
  expect(fetched?.attributes).toEqual({
    'http.request.method': 'GET',
    'http.response.status_code': 200,
    'server.address': '127.0.0.1',
    'server.port': Number(new URL(collector.url).port),
    'url.full': `${collector.url}/orders`,
  });
  // The upstream's spans and those of the browser continue ours.
  expect(collector.received).toEqual([`00-${TRACE}-${fetched?.spanId}-01`]);
  expect(html).toContain(`<meta name="sentry-trace" content="${TRACE}-${request?.spanId}-1"/>`);
  expect(JSON.stringify(spans)).not.toContain('secret');
});

it('adds the digest to the part that failed and to the request, and the trace to the log', async () => {
  const collector = await startCollector();
  const { visitor, log } = await start(collector);
  const reply = await visitor.get('/?fail', { accept: 'text/html' });
  const address = reply.headers.get('x-error-digest') ?? '';
  await reply.text();
  await collector.ended('GET /');

  const [request, failed] = [collector.find('GET /'), collector.find('loader home')];
  const ids = { 'spillway.digest': address.slice(0, 8), 'spillway.address': address };
  expect(failed).toMatchObject({
    status: { code: ERROR, message: expect.stringMatching(/^TypeError: The password=.* is wrong\.$/) },
    attributes: { ...ids, 'error.type': 'TypeError' },
  });
  expect(request).toMatchObject({
    status: { code: ERROR },
    attributes: { ...ids, 'error.type': '500', 'http.response.status_code': 500 },
  });
  expect(collector.find('guard root')?.status).toEqual({ code: 0 });
  expect(JSON.stringify(collector.spans)).not.toContain('hunter2');
  expect(log()).toContain(`"traceId":"${request?.traceId}"`);

  // A part that reported an error has not failed.
  collector.spans.length = 0;
  await (await visitor.get('/?report')).text();
  await collector.ended('GET /');
  for (const name of ['loader home', 'GET /']) {
    const { status, attributes } = collector.find(name) ?? {};
    expect([status, attributes?.['spillway.digest']], name).toEqual([{ code: 0 }, expect.stringMatching(/^\w{8}$/)]);
  }
});

it('works as a bundle, as in a container', async () => {
  const collector = await startCollector();
  const options = ['otel.mjs', '--bundle', '--platform=node', '--format=cjs', '--outfile=dist/otel.cjs'];
  const { status, stderr } = spawnSync(join(project, 'node_modules/.bin/esbuild'), options, { cwd: app.folder });
  expect(`${status} ${stderr}`).toMatch(/^0/);
  const { visitor } = await start(collector, '--import ./dist/otel.cjs');
  await visitor.get('/');
  await collector.ended('GET /');
  expect(collector.find('loader home')?.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(collector.find('loader home')?.traceId).toBe(collector.find('GET /')?.traceId);
});
