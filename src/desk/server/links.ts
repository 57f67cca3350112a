/** The settings that make links on the desk. Undefined for no links. */
export interface DeskLinks {
  /** `SOURCE_LINK`, `ISSUE_LINK` and `TRACE_LINK`: URLs with placeholders such as `{file}`. */
  readonly source?: string | undefined;
  readonly issue?: string | undefined;
  readonly trace?: string | undefined;
  /** The origin of the desk, for links from elsewhere. */
  readonly origin?: string | undefined;
}

/**
 * Fills the placeholders of a URL template: `https://github.com/acme/shop/blob/{release}/{file}#L{line}`.
 *
 * @param isPath folders in the values stay folders
 */
export function fillLink(
  template: string,
  values: Readonly<Record<string, string | number>>,
  { isPath = false } = {},
): string {
  return template.replace(/\{(\w+)\}/g, (placeholder, name: string) => {
    if (!Object.hasOwn(values, name)) return placeholder;
    const value = encodeURIComponent(String(values[name]).toWellFormed());
    return isPath ? value.replaceAll('%2F', '/') : value;
  });
}

/** Returns the path of a source file from the top of the workspace. Frames of the project have it from the project. */
export function toWorkspacePath(file: string): string {
  // The build defines both: `apps/web/` and `packages/ui/,packages/domain/`.
  const own = process.env.SPILLWAY_FOLDER ?? '';
  const packages = process.env.SPILLWAY_PACKAGES ?? '';
  return packages.split(',').some((folder) => folder && file.startsWith(folder)) ? file : own + file;
}

/** Schemes that run code or open local files. */
const UNSAFE = /^(?:javascript|data|vbscript|blob|file):/i;

/** @returns undefined if it is not a safe URL, or has no `{file}` */
export function parseSourceLink(text: string): string | undefined {
  const isLink = /^[a-z][a-z0-9+.-]*:\/\/[^\s]+$/i.test(text) && !UNSAFE.test(text);
  return isLink && text.includes('{file}') ? text : undefined;
}

/** The placeholders of `ISSUE_LINK`. */
export const ISSUE_FIELDS = ['digest', 'title', 'url', 'release', 'environment', 'route', 'file', 'line'] as const;

/** @returns undefined if it is not an http(s) URL, has an unknown placeholder, or names no incident */
export function parseIssueLink(text: string): string | undefined {
  return /\{(?:digest|url)\}/.test(text) ? parseWebLink(text, ISSUE_FIELDS) : undefined;
}

/** @returns undefined if it is not an http(s) URL, has another placeholder, or no `{traceId}` */
export function parseTraceLink(text: string): string | undefined {
  return text.includes('{traceId}') ? parseWebLink(text, ['traceId']) : undefined;
}

function parseWebLink(text: string, fields: readonly string[]): string | undefined {
  const isKnown = [...text.matchAll(/\{([^{}]*)\}/g)].every(([, name = '']) => fields.includes(name));
  return isKnown && /^https?:\/\/[^\s/]+[^\s]*$/i.test(text) && URL.canParse(text) ? text : undefined;
}
