/** The server's data for a page: part of the document, page data and action results. Encoded by `encode.ts`. */
export interface PagePayload {
  readonly build: string;
  /** Ids of the matched routes, outermost first, so that hydration needs no matching. */
  readonly routes: readonly string[];
  readonly params: Readonly<Record<string, string | undefined>>;
  /** Loader data by route id. Every matched route has a key. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Errors of loaders, guards and renders, by route id. */
  readonly errors?: Readonly<Record<string, PageError>>;
  readonly action?: ActionResult;
  /** The largest form (bytes) of actions with a limit of their own, by `<route id>.<name>`. */
  readonly uploads?: Readonly<Record<string, number>>;
  /** Style sheets of the matched routes, by route id. */
  readonly styles: Readonly<Record<string, readonly string[]>>;
  /** The page is static: its data can be reused for `STATIC_STALE_TIME`. */
  readonly static?: true;
  /** The page has `mode: 'shell'`: the same, but its holes are fetched for each navigation. */
  readonly shell?: true;
}

/** A redirect from page data or an action. Its status is 200, because `fetch` would follow a 3xx. */
export interface RedirectPayload {
  readonly build: string;
  readonly redirect: string;
  /** The target is on another site or not a page: the browser loads a document. */
  readonly reload?: boolean;
  /** A guard stopped a form. What was typed is shown again when the visitor returns to the page. */
  readonly unsent?: boolean;
}

export type PageErrorKind = 'not-found' | 'forbidden' | 'unauthorized' | 'public' | 'failure' | 'redirect';

/** Everything that a visitor can see of an error. `message` is set only if it was written for visitors. */
export interface PageError {
  readonly kind: PageErrorKind;
  readonly status: number;
  readonly message?: string;
  /** The address (`7K3QM2XA-9F4W0R6B`) of a failure. A failure in the browser gets it after it is shown. */
  readonly digest?: string;
  /** The URL that shows the failure, if the visitor can open it. */
  readonly url?: string;
  /** The failure happened in the browser. Never sent by the server. */
  readonly inBrowser?: true;
  /** Target of a redirect that was thrown after the response had started. */
  readonly location?: string;
  /** The posted values of a form that no action processed. They are shown below the error page. */
  readonly typed?: ActionResult['values'];
}

/** Fields that a failure in the browser gets once the server has received its report. */
export type ReportedAddress = Pick<PageError, 'digest' | 'url'>;

/** Result of a server action. `Data` is what it returns on success. */
export interface ActionResult<Data = unknown> {
  /** `<route id>.<name>` */
  readonly action: string;
  readonly status: number;
  /** The action's return value. */
  readonly data?: Data;
  /** Messages by field name. The empty name is for the whole form. */
  readonly errors?: Readonly<Record<string, string>>;
  /** The posted values, without files and passwords. */
  readonly values?: Readonly<Record<string, string | readonly string[]>>;
}
