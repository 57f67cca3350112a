import type { ReactNode } from 'react';
import { type Engine, EngineContext } from '../../../shared/rendering/engine-context.ts';
import { languageOf } from '../../../shared/rendering/language.ts';
import { RouterView } from '../../../shared/rendering/router-view.tsx';
import type { RouteTree } from '../../../shared/routing/route-objects.ts';
import { createStandIn, type ForwardedCalls } from '../../../shared/routing/stand-in.ts';
import type { AssetManifest } from '../../../shared/wire/manifest.ts';
import type { PagePayload } from '../../../shared/wire/payload.ts';
import type { PageRequest } from '../page-request.ts';

interface PageTreeProps {
  readonly tree: RouteTree;
  readonly manifest: AssetManifest;
  readonly pageRequest: Pick<PageRequest, 'path' | 'search'>;
  readonly payload: PagePayload;
  readonly engine: Engine;
}

/** The elements of a page: document, layouts and page. */
export function PageTree({ tree, manifest, pageRequest, payload, engine }: PageTreeProps): ReactNode {
  const { document: Document, nonce } = engine;
  const { lang, dir } = languageOf(Document, pageRequest.path);
  const location = {
    pathname: pageRequest.path,
    search: pageRequest.search,
    hash: '',
    state: null,
    key: 'default',
    mask: undefined,
  };
  const router = createStandIn({ tree, payload, location }, NO_NAVIGATION);
  const head = preloadsOf(manifest, payload.routes).map((href) => (
    <link key={href} rel="modulepreload" href={href} nonce={nonce} />
  ));
  return (
    <EngineContext value={engine}>
      <Document lang={lang} dir={dir} head={head}>
        <RouterView router={router} />
      </Document>
    </EngineContext>
  );
}

/** The modules that a page needs, for `modulepreload`: the entry, its imports, and those of each matched route. */
function preloadsOf(manifest: AssetManifest, ids: readonly string[]): string[] {
  const urls = new Set([manifest.entry.script, ...manifest.entry.preloads]);
  for (const id of ids) {
    const assets = manifest.routes[id];
    if (!assets) continue;
    urls.add(assets.script);
    for (const url of assets.preloads) urls.add(url);
  }
  return [...urls];
}

const NO_NAVIGATION: ForwardedCalls = {
  navigate: refuseNavigation,
  fetch: refuseNavigation,
  revalidate: refuseNavigation,
  deleteBlocker: () => {}, // called by effects, which do not run here
};

function refuseNavigation(): Promise<never> {
  throw new Error(
    `navigate() was called while a page was rendered on the server. Call it in an effect or an event handler, or throw redirect().`,
  );
}
