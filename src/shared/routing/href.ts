import type { LineOf, RouteLine } from './routes.ts';

/** Every path in a table. */
export type PathOf<Table extends readonly RouteLine[]> = Extract<
  LineOf<Table[number]>,
  { readonly path: string }
>['path'];

type Segment<Path extends string> = Path extends `${infer First}/${infer Rest}` ? First | Segment<Rest> : Path;
type RequiredName<Part extends string> = Part extends `:${string}?`
  ? never
  : Part extends `:${infer Name}`
    ? Name
    : never;
type OptionalName<Part extends string> = Part extends `:${infer Name}?` ? Name : Part extends '*' ? '*' : never;

/** Parameters of a path: `/orders/:id/:tab?` takes `{ id: 7 }` or `{ id: 7, tab: 'items' }`. */
type ParamsOf<Path extends string> = {
  readonly [Name in RequiredName<Segment<Path>>]: string | number;
} & {
  readonly [Name in OptionalName<Segment<Path>>]?: string | number;
};

/** Parameters as loaders and pages read them, from a path, or of any path if it is not known. */
export type ParamsIn<Path extends string | undefined> = Path extends string
  ? { readonly [Name in RequiredName<Segment<Path>>]: string } & {
      readonly [Name in OptionalName<Segment<Path>>]?: string;
    } extends infer Params
    ? { [Name in keyof Params]: Params[Name] } // one object reads better in the compiler's messages
    : never
  : Readonly<Record<string, string | undefined>>;

type SearchValue = string | number | boolean | null | undefined;

interface HrefOptions<Search = URLSearchParams | Readonly<Record<string, SearchValue | readonly SearchValue[]>>> {
  /** Keys whose value is null or undefined are left out. In a list, each value repeats the key. */
  readonly search?: Search;
  /** Without the `#`. */
  readonly hash?: string;
}

/** A schema as far as its types go. See `ServerPage['search']`. */
export interface SearchSchema<Input, Output> {
  readonly '~standard': { readonly types?: { readonly input: Input; readonly output: Output } | undefined };
}

/** What a schema parses from a URL. Keys with a default can be left out. */
type SearchFor<Schema> =
  Schema extends SearchSchema<infer Input, infer Output>
    ? { readonly [Key in keyof Input]: (Key extends keyof Output ? Output[Key] : Input[Key]) | null }
    : never;

type OptionsOf<Path, Searches> = Path extends keyof Searches ? HrefOptions<SearchFor<Searches[Path]>> : HrefOptions;

/** Distributes over paths, so that the compiler reports an unknown path and not its arguments. */
type HrefArgs<Path extends string, Searches> = Path extends unknown
  ? [RequiredName<Segment<Path>>] extends [never]
    ? [OptionalName<Segment<Path>>] extends [never]
      ? [options?: OptionsOf<Path, Searches>]
      : [params?: ParamsOf<Path>, options?: OptionsOf<Path, Searches>]
    : [params: ParamsOf<Path>, options?: OptionsOf<Path, Searches>]
  : never;

/**
 * Returns the URL of a page by its path in the route table: `href('/orders/:id', { id: 7 })`. A path that is not in the
 * table does not compile.
 *
 * @throws TypeError if a parameter is missing or cannot be part of a URL
 */
interface Href<KnownPath extends string, Searches> {
  <Path extends KnownPath>(path: Path, ...args: HrefArgs<Path, Searches>): string;
  /** Never set: tells `ServerPages` which schemas it knows. */
  readonly searches?: Searches;
}

/**
 * Creates the `href` function of a route table. It needs only the table's type, so that a page with links does not load
 * the table.
 *
 * `createHref<typeof routes, { '/orders': typeof ordersSearch }>()` also checks the search of these paths. Each
 * schema is a constant, because the type of a server file depends on the links in it.
 */
export function createHref<Table extends readonly RouteLine[], Searches = unknown>(): Href<PathOf<Table>, Searches> {
  return function href(path: string, ...args: readonly unknown[]) {
    const segments = path.split('/');
    const [params, options] = segments.some(isDynamic) ? args : [undefined, args[0]];
    const { search, hash } = (options ?? {}) as HrefOptions;
    return (
      toPathname(segments, (params ?? {}) as Params) + toSearch(search) + (hash ? `#${encodeURIComponent(hash)}` : '')
    );
  };
}

type Params = Readonly<Record<string, string | number | undefined>>;

function isDynamic(segment: string): boolean {
  return segment.startsWith(':') || segment === '*';
}

function toPathname(segments: readonly string[], params: Params): string {
  const spelt = segments.slice(1).flatMap((segment) => {
    if (segment === '*') return params['*'] === undefined ? [] : String(params['*']).split('/');
    if (!segment.startsWith(':')) return segment.replace(/\?$/, '');
    const name = segment.replace(/^:|\?$/g, '');
    const value = params[name];
    if (value !== undefined) return String(value);
    if (segment.endsWith('?')) return [];
    throw new TypeError(`href('${segments.join('/')}', …) was given no "${name}".`);
  });
  return `/${spelt.map((part) => spellSegment(part, segments)).join('/')}`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
const UNSPEAKABLE = /[/\\\u0000-\u001f\u007f-\u009f]/;

/** Encodes like the server, which redirects other spellings, and refuses the same parts. */
function spellSegment(text: string, segments: readonly string[]): string {
  const path = segments.join('/');
  const isRefused = UNSPEAKABLE.test(text) || text === '.' || text === '..' || !text.isWellFormed();
  if (isRefused || (text === '' && path !== '/')) {
    throw new TypeError(
      `href('${path}', …) was given ${JSON.stringify(text)}, which cannot be a part of a path. Put it into the search, or give it another name.`,
    );
  }
  return encodeURIComponent(text).replace(/%(?:24|26|2B|2C|3B|3D|3A|40)/g, decodeURIComponent);
}

function toSearch(search: HrefOptions['search']): string {
  if (search === undefined) return '';
  if (search instanceof URLSearchParams) return search.size > 0 ? `?${search}` : '';
  const pairs = new URLSearchParams();
  for (const [key, given] of Object.entries(search)) {
    for (const value of Array.isArray(given) ? given : [given]) {
      if (value !== null && value !== undefined) pairs.append(key, String(value));
    }
  }
  return toSearch(pairs);
}
