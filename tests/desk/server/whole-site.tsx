import { desk as tracker } from '../../../src/desk/server/index.ts';
import { formBody } from '../../../src/server/api/body-parsers.ts';
import { resource } from '../../../src/server/api/resource.ts';
import { createFunnel } from '../../../src/server/errors/funnel.ts';
import type { CheckToken } from '../../../src/server/front/check-token.ts';
import { metricsPage } from '../../../src/server/front/fixed-paths.ts';
import { createMetrics } from '../../../src/server/front/metrics.ts';
import { createAsset, type PublicFile } from '../../../src/server/front/public-files.ts';
import { toSecurityHeaders } from '../../../src/server/front/security-headers.ts';
import { createOrigins } from '../../../src/server/request/origins.ts';
import { Await } from '../../../src/shared/rendering/await.tsx';
import { useData } from '../../../src/shared/rendering/hooks.ts';
import { unauthorized } from '../../../src/shared/routing/control-flow.ts';
import { createFakeApi, serve, spyOnLog } from '../../support/app.ts';
import { CanaryError, createTestPages, type TestPage } from '../../support/pages-app.tsx';
import { ADA } from '../../support/people.ts';
import { createFakeTunnel, createTunnelSpies } from '../../support/tunnel-site.ts';
import { testMaker } from '../../support/unguarded.ts';
import { startDeskSite, toCookie } from '../support/desk-site.ts';

export const SITE_HOST = 'example.com';
export const SITE_ORIGIN = `https://${SITE_HOST}`;
/** The site's secret, which no response may contain. */
export const OPERATOR = ADA.token;

function Words() {
  const { words, late } = useData<{ words: string; late?: Promise<string> }>();
  return (
    <main>
      <h1>{words}</h1>
      {late && (
        <Await value={late} fallback={<i>waiting</i>}>
          {(text) => <b>{text}</b>}
        </Await>
      )}
    </main>
  );
}

const TABLE: readonly TestPage[] = [
  { id: 'home', path: '/', view: Words, server: { loader: () => ({ words: 'home' }) } },
  {
    id: 'stream',
    path: '/stream',
    view: Words,
    server: { loader: () => ({ words: 'stream', late: new Promise((resolve) => setTimeout(resolve, 5, 'late')) }) },
  },
  { id: 'static', path: '/static', mode: 'static', view: Words, server: { loader: () => ({ words: 'static' }) } },
  {
    id: 'form',
    path: '/form',
    view: Words,
    server: {
      loader: () => ({ words: 'form' }),
      actions: {
        default: () => undefined,
        tell: ({ form }) => Object.fromEntries(form),
      },
    },
  },
  { id: 'item', path: '/items/:id', view: Words, server: { loader: ({ params }) => ({ words: String(params.id) }) } },
  {
    id: 'me',
    path: '/me',
    view: Words,
    server: { loader: ({ request }) => ({ words: nameUser(request.headers.get('cookie')) }) },
  },
  { id: 'private', path: '/private', view: Words, server: { guard: () => unauthorized() } },
  {
    id: 'fail',
    path: '/fail',
    view: Words,
    server: {
      loader: () => {
        throw new CanaryError();
      },
    },
  },
];

/** Reads the user's name from a cookie. A response for one user must not reach another. */
function nameUser(cookie: string | null | undefined): string {
  return /\buser=([\w-]+)/.exec(cookie ?? '')?.[1] ?? 'nobody';
}

function createApi() {
  const api = createFakeApi();
  api.use(resource('/form', { POST: [...formBody(), (req, res) => void res.json(req.body)] }));
  api.use(resource('/me', { GET: (req, res) => void res.json({ words: nameUser(req.headers.cookie) }) }));
  return api;
}

const checkToken: CheckToken = (candidate) =>
  candidate === OPERATOR ? { kind: 'known', token: ADA } : { kind: 'wrong' };

export type WholeSite = Awaited<ReturnType<typeof startWholeSite>>;

/** Starts every handler of the engine and the desk in this process, for tests that check every kind of response. */
export async function startWholeSite() {
  const { log, lines } = spyOnLog();
  const funnel = createFunnel(testMaker, { log, toUrl: tracker.toUrl });
  const origins = createOrigins([SITE_ORIGIN], 'http://localhost:3000');
  const overload = { level: 0, reason: 'renders' as const };
  const files = new Map<string, PublicFile>();
  for (const path of ['/assets/main-1.js', '/robots.txt']) {
    const file = createAsset(path, Buffer.from('a file of the site'));
    if (file) files.set(path, file);
  }
  const metrics = createMetrics({ build: 'test', release: 'test' });
  const site = await startDeskSite({
    publicOrigins: [SITE_ORIGIN],
    deps: {
      log,
      funnel,
      files,
      overload,
      metrics,
      fixed: [metricsPage(metrics, checkToken)],
      pages: await createTestPages(TABLE, { server: { funnel, origins } }),
      api: createApi(),
      reportPath: '/_report/browser',
      tunnel: (fail) => createFakeTunnel(createTunnelSpies(), { origins, log, fail }),
    },
  });
  const shop = await serve(site.app, { log, headers: toSecurityHeaders(origins) });
  const desk = await serve(site.alone, { log });
  return {
    /** The port of the site, which is `https://example.com`. */
    port: shop.port,
    /** The port of the desk's own listener. */
    deskPort: desk.port,
    /** Set by a test. From level 1 on, some requests are refused. */
    overload,
    lines,
    /** Signs in to the desk. @returns the cookie */
    async enter() {
      const signIn = site.post('/desk', { _action: 'root.signIn', token: OPERATOR });
      return toCookie((await signIn.set('Host', SITE_HOST)).headers);
    },
    close() {
      shop.close();
      desk.close();
    },
  };
}
