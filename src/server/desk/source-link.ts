/** A place in the source of a release. */
export interface SourcePlace {
  /** Relative to the project's root. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly release: string;
  readonly build: string;
}

/**
 * Fills a place into the URL template of an editor or a repository:
 * `https://github.com/acme/shop/blob/{release}/{file}#L{line}`.
 */
export function toSourceLink(template: string, place: SourcePlace): string {
  return template.replace(/\{(file|line|column|release|build)\}/g, (_, name: keyof SourcePlace) =>
    encodeURIComponent(place[name]).replaceAll('%2F', '/'),
  );
}

/** Schemes that run code or open local files. */
const UNSAFE = /^(?:javascript|data|vbscript|blob|file):/i;

/** @returns undefined if it is not a safe URL, or has no `{file}` */
export function parseSourceLink(text: string): string | undefined {
  const isLink = /^[a-z][a-z0-9+.-]*:\/\/[^\s]+$/i.test(text) && !UNSAFE.test(text);
  return isLink && text.includes('{file}') ? text : undefined;
}
