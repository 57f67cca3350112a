/**
 * What the build tells the server about the client bundle. Written by `build.mjs` to
 * `dist/manifest.json`; URLs are absolute paths (`/assets/main-X7K2.js`).
 */
export interface AssetManifest extends AppAssets {
  /** Names this build: a hash over every client file. Sent as `X-Build-Id` with pages and page data. */
  readonly buildId: string;
  /** The setting RELEASE at the time of the build, else the commit; absent where there was neither. */
  readonly release?: string;
  /** By file of the server (`server/main.js`), the debug id that its bundle and its map carry. */
  readonly debugIds?: Readonly<Record<string, string>>;
  /** Other apps of the same build, by name, such as the desk. */
  readonly apps?: Readonly<Record<string, AppAssets>>;
}

/** What browsers get of one set of pages. */
export interface AppAssets {
  /** The module that hydrates a page, and what it imports statically. */
  readonly entry: RouteAssets;
  /** By route id: the chunk of the page, what that chunk imports beyond `entry`, and its style sheets. */
  readonly routes: Readonly<Record<string, RouteAssets>>;
}

export interface RouteAssets {
  readonly script: string;
  readonly preloads: readonly string[];
  readonly styles: readonly string[];
}

/**
 * The manifest of another app of the build, for its pages.
 *
 * @throws Error where the build has none of that name
 */
export function toAppManifest({ apps, ...build }: AssetManifest, name: string): AssetManifest {
  const app = apps?.[name];
  if (!app) throw new Error(`The build has no app named "${name}". Build again: the manifest is of an older release.`);
  return { ...build, ...app };
}
