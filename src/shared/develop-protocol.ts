/** URL prefix of everything that `npm run dev` adds to the site, such as the browser's modules. */
export const DEV_PREFIX = '/_dev';
/** Server-sent events that notify open pages of new builds. */
export const DEV_EVENTS = `${DEV_PREFIX}/events`;
export const DEV_STATE = `${DEV_PREFIX}/state`;
/** `DEV_FAILURES` returns a failure by its address, `DEV_FRAMES` an error of the browser with its source lines. */
export const DEV_FAILURES = `${DEV_PREFIX}/failures`;
export const DEV_FRAMES = `${DEV_PREFIX}/frames`;

/** The last build of `npm run dev`. */
export interface DevState {
  /** The number of the last build; `served` is the build of the server that is running. */
  readonly build: number;
  readonly served: number;
  /** The URL of the output, by product file. */
  readonly modules: Readonly<Record<string, string>>;
  /** The page's file, by route id. */
  readonly routes: Readonly<Record<string, string>>;
  /** By route id. */
  readonly styles: Readonly<Record<string, readonly string[]>>;
  /** Changes with the other apps: their pages have to reload. */
  readonly others: string;
  /** Changes with anything outside the product: open pages have to reload. */
  readonly base: string;
  /** Changes with the server: open pages fetch their data again. */
  readonly server: string;
  /** The files that changed, for the message that says why a page reloads. */
  readonly reason: string;
  /** Set if the build failed; the other fields are then unchanged. */
  readonly error?: DevError;
}

/** An error that the browser sends to the server to get its source lines. */
export interface ThrownInBrowser {
  readonly title: string;
  readonly message: string;
  readonly stack: string;
  readonly componentStack?: string;
}

export interface DevError {
  readonly title: string;
  readonly problems: readonly DevProblem[];
}

export interface DevProblem {
  readonly text: string;
  /** Relative to the project. */
  readonly file?: string;
  readonly line?: number;
  /** Counted from 1. */
  readonly column?: number;
  /** Shown below the source lines: a stack, or the surrounding components. */
  readonly trail?: readonly string[];
  /** A link that opens the location in an editor. */
  readonly open?: string;
  /** The lines around it, by number. */
  readonly lines?: readonly (readonly [number: number, text: string])[];
}
