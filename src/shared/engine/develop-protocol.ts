/** Where a development server tells open pages of its builds. */
export const DEV_EVENTS = '/_dev/events';
export const DEV_STATE = '/_dev/state';
/** What a failure was, by its address; what the browser threw, with the lines of source. */
export const DEV_FAILURES = '/_dev/failures';
export const DEV_FRAMES = '/_dev/frames';

/** The last build, as `npm run dev` knows it. */
export interface DevState {
  /** Counts builds; `served` is the one whose server answers. */
  readonly build: number;
  readonly served: number;
  /** By file of the product, the URL of its output. */
  readonly modules: Readonly<Record<string, string>>;
  /** By route id, the file of its page. */
  readonly routes: Readonly<Record<string, string>>;
  /** By route id. */
  readonly styles: Readonly<Record<string, readonly string[]>>;
  /** Changes where the desk did: a page of it has to reload. */
  readonly desk: string;
  /** Changes where something else than the product changed: an open page has to reload. */
  readonly base: string;
  /** Changes where the server did: page data is asked for again. */
  readonly server: string;
  /** The files that changed, for the line that says why a page reloads. */
  readonly reason: string;
  /** The build failed; all else is as it was before. */
  readonly error?: DevError;
}

/** What the browser sends of an error: the server knows the source. */
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
  /** What stands below the lines: a stack, or the components around. */
  readonly trail?: readonly string[];
  /** A link that opens the place in an editor. */
  readonly open?: string;
  /** The lines around it, by number. */
  readonly lines?: readonly (readonly [number: number, text: string])[];
}
