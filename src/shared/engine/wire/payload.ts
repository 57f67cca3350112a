/**
 * What the server tells the browser about a page: carried inside the document, and by page data and
 * action answers. It is encoded by `wire.ts`.
 */
export interface PagePayload {
  readonly build: string;
  /** Ids of the matched routes, outermost first, so that the browser need not match to hydrate. */
  readonly routes: readonly string[];
  readonly params: Readonly<Record<string, string | undefined>>;
  /** By route id; every matched route has a key. */
  readonly data: Readonly<Record<string, unknown>>;
  /** By route id, where a loader, guard or render failed. */
  readonly errors?: Readonly<Record<string, PageError>>;
  readonly action?: ActionResult;
  /** Style sheets by route id, for the matched routes that have any. */
  readonly styles: Readonly<Record<string, readonly string[]>>;
  /** The page is static: its data may be reused for `STATIC_STALE_TIME`. */
  readonly static?: true;
}

/** Where page data or an action sends the visitor; answered with 200, because `fetch` would follow a 3xx. */
export interface RedirectPayload {
  readonly build: string;
  readonly redirect: string;
  /** The target is another site, or no page: the browser loads a document. */
  readonly reload?: boolean;
}

export type PageErrorKind = 'not-found' | 'forbidden' | 'unauthorized' | 'public' | 'failure' | 'redirect';

/** All that a visitor may learn of an error. `message` is there where somebody wrote it for them. */
export interface PageError {
  readonly kind: PageErrorKind;
  readonly status: number;
  readonly message?: string;
  /** The address (`7K3QM2XA-9F4W0R6B`) of a failure. One of the browser's own has it some time after it is shown. */
  readonly digest?: string;
  /** Whoever sees it is signed in to the desk, where the address leads. */
  readonly desk?: true;
  /** It happened in the browser. It never comes from the server. */
  readonly inBrowser?: true;
  /** Where a late redirect leads: one that came when the page was on its way already. */
  readonly location?: string;
}

/** What becomes known of a failure of the browser's own once the server has heard of it. */
export type ToldAddress = Pick<PageError, 'digest' | 'desk'>;

/** What a server action answered. `Data` is what it returns where it refuses nothing. */
export interface ActionResult<Data = unknown> {
  /** `<route id>.<name>` */
  readonly action: string;
  readonly status: number;
  /** What the action returned. */
  readonly data?: Data;
  /** By field name; the empty name is the form as a whole. */
  readonly errors?: Readonly<Record<string, string>>;
  /** What was typed, without files and passwords. */
  readonly values?: Readonly<Record<string, string | readonly string[]>>;
}
