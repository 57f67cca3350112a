/**
 * Describes the client bundle to the server. `build.mjs` writes it to `dist/manifest.json`. URLs are absolute paths
 * (`/assets/main-X7K2.js`).
 */
export interface AssetManifest extends AppAssets {
  /** Hash over every client file. Sent as `X-Build-Id` with pages and page data. */
  readonly buildId: string;
  /** The setting RELEASE at build time, or else the commit; absent if there was neither. */
  readonly release?: string;
  /** Debug ids of scripts and their source maps, by file (`server/main.js`, `client/assets/main-X7K2.js`). */
  readonly debugIds?: Readonly<Record<string, string>>;
  /** Other apps of the same build, by name, such as one for operators. */
  readonly apps?: Readonly<Record<string, AppAssets>>;
}

/** Client files of one app's pages. */
export interface AppAssets {
  /** The module that hydrates a page, and its static imports. */
  readonly entry: RouteAssets;
  /** By route id: the page's chunk, the imports of that chunk beyond `entry`, and its style sheets. */
  readonly routes: Readonly<Record<string, RouteAssets>>;
}

interface RouteAssets {
  readonly script: string;
  readonly preloads: readonly string[];
  readonly styles: readonly string[];
}

/**
 * Returns the manifest for the pages of another app.
 *
 * @throws Error if the build has no app of that name
 */
export function toAppManifest({ apps, ...build }: AssetManifest, name: string): AssetManifest {
  const app = apps?.[name];
  if (!app) throw new Error(`The build has no app named "${name}". Build again: the manifest is of an older release.`);
  return { ...build, ...app };
}
