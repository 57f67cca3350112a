import type { Params } from 'react-router';
import type { PageProps, RouteIdOf, RouteLine } from '../../../shared/engine/routing/routes.ts';

/** What every loader, action and guard finds in its `context`, whatever the owner adds. */
export interface EngineContext {
  /** `fetch` with up to three attempts on a status of 500 or more, one deadline, and trace headers for the targets that are listed. Stops when the visitor leaves. */
  readonly fetch: typeof fetch;
}

/** What a loader or guard is called with. `Context` is the product's `AppContext`. */
export interface LoaderArgs<Context = EngineContext> {
  /** The request as the web knows it; its URL is checked and comes from the configured origin. */
  readonly request: Request;
  readonly params: Params;
  readonly context: Context;
  /** Aborted when the visitor leaves. */
  readonly signal: AbortSignal;
}

/** What an action is called with. */
export interface ActionArgs<Context = EngineContext> extends LoaderArgs<Context> {
  readonly form: FormData;
}

/** The answer of an action that refuses what was typed: the page comes again with what was wrong and what was typed. */
export class Refusal {
  readonly status: 409 | 422;
  readonly errors: Readonly<Record<string, string>>;

  constructor(status: 409 | 422, errors: Readonly<Record<string, string>>) {
    this.status = status;
    this.errors = errors;
  }
}

export interface RefusalDetails {
  /** What is wrong, by field name; the empty name stands for the form as a whole. */
  readonly errors: Readonly<Record<string, string>>;
}

/** The fields do not fit: 422. Return it from an action. */
export function invalid({ errors }: RefusalDetails): Refusal {
  return new Refusal(422, errors);
}

/** The fields fit, but the state of things does not: 409. Return it from an action. */
export function conflict({ errors }: RefusalDetails): Refusal {
  return new Refusal(409, errors);
}

/** What an action may answer of which a page declares `send(): Sent`. */
type AnswerOf<Action> = Action extends () => infer Data ? Data | Refusal | Promise<Data | Refusal> : never;

/** The server's side of the actions that a page declares. */
export type ActionHandlers<Actions, Context> = {
  readonly [Name in keyof Actions]: (args: ActionArgs<Context>) => AnswerOf<Actions[Name]>;
};

/**
 * The server half of a page or layout. Each part is optional. `Data` and `Actions` are the interfaces
 * that stand beside the page.
 */
export interface ServerPage<Data = unknown, Context = EngineContext, Actions = Record<string, () => unknown>> {
  /**
   * Runs before every loader and action of the branch, outermost first; throws `forbidden()`,
   * `redirect()` and the like. Before an action the method of its request is POST. What it found it
   * hands over by `oncePerRequest()`.
   */
  readonly guard?: (args: LoaderArgs<Context>) => void | Promise<void>;
  /** Brings the page's data. Promises inside it stream in as they settle. */
  readonly loader?: (args: LoaderArgs<Context>) => Data | Promise<Data>;
  /** A cheap name for the state of the data: where every route of a branch has one, HEAD and conditional requests run no loader. */
  readonly version?: (args: LoaderArgs<Context>) => string | Promise<string>;
  /** By name; a form names one as `<route id>.<name>`. */
  readonly actions?: ActionHandlers<Actions, Context>;
  /** Names of actions that run whatever the guards say, because they are how a visitor gets past them: signing in. */
  readonly openActions?: readonly (keyof Actions & string)[];
  /** Foreign origins whose form posts this page takes (payment and sign-in providers). */
  readonly acceptPostsFrom?: readonly string[];
}

/**
 * The table of server halves: `satisfies ServerPages<typeof routes, AppContext, Actions>`. It has every
 * route id; null for a page that needs nothing of the server. A page that takes `data` needs the
 * loader that returns it, and one that declares actions needs those.
 */
export type ServerPages<Table extends readonly RouteLine[], Context = EngineContext, Actions = unknown> = {
  readonly [Id in RouteIdOf<Table> | (keyof Actions & string)]: Id extends RouteIdOf<Table>
    ? ServerHalf<Id, LineOf<Table, Id>, Context> & ActingHalf<Id, Actions, Context>
    : `"${Id}" is no route of src/shared/product/routes.tsx. Mend its name in src/shared/product/actions.ts.`;
};

/** A server half that has the actions which its page declares. The first parameter is for the compiler's message. */
export interface ActingPage<_Id extends string, Actions, Context> {
  readonly actions: ActionHandlers<Actions, Context>;
}

type ActingHalf<Id extends string, Actions, Context> = Id extends keyof Actions
  ? ActingPage<Id, Actions[Id], Context>
  : unknown;

/** A server half whose loader is what its page waits for. The first parameter is for the compiler's message: whose it is. */
export interface LoadingPage<_Id extends string, Data, Context> extends ServerPage<Data, Context> {
  readonly loader: (args: LoaderArgs<Context>) => Data | Promise<Data>;
}

type ServerHalf<Id extends string, Line, Context> = Line extends { readonly page: () => Promise<infer Module> }
  ? Module extends { readonly default: (...args: infer Props) => unknown }
    ? Props extends readonly [PageProps<infer Data>, ...unknown[]]
      ? LoadingPage<Id, Data, Context>
      : ServerPage<unknown, Context> | null
    : `The page "${Id}" has no component as its default export. Its file is named in src/shared/product/routes.tsx.`
  : never;

/** The line of a table that has an id. */
type LineOf<Table extends readonly RouteLine[], Id extends string> = Table[number] extends infer Line
  ? Line extends { readonly id: Id }
    ? Line
    : Line extends { readonly children: infer Children extends readonly RouteLine[] }
      ? LineOf<Children, Id>
      : never
  : never;
