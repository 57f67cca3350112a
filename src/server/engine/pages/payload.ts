import { hash } from 'node:crypto';
import type { AssetManifest } from '../../../shared/engine/wire/manifest.ts';
import type { ActionOutcome, PagePayload } from '../../../shared/engine/wire/payload.ts';
import type { LoadedPage } from './load-page.ts';
import type { PageMatch } from './match-page.ts';

/** Puts together what the browser is told about a page. */
export function createPayload(
  manifest: AssetManifest,
  match: PageMatch,
  loaded: LoadedPage,
  action?: ActionOutcome,
): PagePayload {
  return {
    build: manifest.buildId,
    routes: match.ids,
    params: match.params,
    data: loaded.data,
    ...(loaded.errors ? { errors: loaded.errors } : {}),
    ...(action ? { action } : {}),
    styles: stylesOf(manifest, match.ids),
    ...(match.mode === 'static' ? { static: true } : {}),
  };
}

function stylesOf(manifest: AssetManifest, ids: readonly string[]): Record<string, readonly string[]> {
  const styles: Record<string, readonly string[]> = {};
  for (const id of ids) {
    const hrefs = manifest.routes[id]?.styles;
    if (hrefs?.length) styles[id] = hrefs;
  }
  return styles;
}

/** The modules that a page needs, for `modulepreload`: the entry, its imports, and those of each matched route. */
export function preloadsOf(manifest: AssetManifest, ids: readonly string[]): string[] {
  const urls = new Set([manifest.entry.script, ...manifest.entry.preloads]);
  for (const id of ids) {
    const assets = manifest.routes[id];
    if (!assets) continue;
    urls.add(assets.script);
    for (const url of assets.preloads) urls.add(url);
  }
  return [...urls];
}

/**
 * The weak validator of page data: equal text, equal data. The text holds the build's id.
 *
 * @param text the encoded payload, or the combined version of its loaders
 */
export function toEtag(manifest: AssetManifest, text: string): string {
  return `W/"${manifest.buildId}-${hash('sha1', text, 'base64url')}"`;
}

/** RFC 9110, section 13.1.2: weak comparison, a list, or `*`. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (!header) return false;
  if (header.trim() === '*') return true;
  const opaque = etag.replace(/^W\//, '');
  return header.split(',').some((item) => item.trim().replace(/^W\//, '') === opaque);
}
