/** A place in the source of a release. */
export interface SourcePlace {
  /** Of the project's root. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly release: string;
  readonly build: string;
}

/**
 * Fills a place into the address of an editor or a repository:
 * `https://github.com/acme/shop/blob/{release}/{file}#L{line}`.
 */
export function toSourceLink(template: string, place: SourcePlace): string {
  return template.replace(/\{(file|line|column|release|build)\}/g, (_, name: keyof SourcePlace) =>
    encodeURIComponent(place[name]).replaceAll('%2F', '/'),
  );
}

/** Schemes that run what stands behind them. */
const UNSAFE = /^(?:javascript|data|vbscript|blob|file):/i;

/** @returns undefined for what leads nowhere, or has no place for a file */
export function parseSourceLink(text: string): string | undefined {
  const isLink = /^[a-z][a-z0-9+.-]*:\/\/[^\s]+$/i.test(text) && !UNSAFE.test(text);
  return isLink && text.includes('{file}') ? text : undefined;
}
