import type { ParamsIn, PathOf, SearchSchema } from '../../shared/routing/href.ts';
import type { TypedHalf } from '../../shared/routing/page-props.ts';
import type { RouteIdOf, RouteLine } from '../../shared/routing/routes.ts';
import type { AppLog } from '../request/app-log.ts';
import { captureCall, type Definition } from '../request/definition.ts';
import type { Schema, SchemaOutput } from './schema.ts';

/** The part of `context` that every loader, action and guard has. */
export interface LoaderContext {
  /**
   * `fetch` with up to three attempts on a status of 500 or more, one deadline, and trace headers for `TRACE_TARGETS`.
   * Stops when the visitor leaves.
   */
  readonly fetch: typeof fetch;
  readonly log: AppLog;
}

/** The arguments of a loader or guard. `Context` is your `AppContext`. */
export interface LoaderArgs<Context = LoaderContext, Params = ParamsIn<undefined>> {
  /** A web `Request`. Its URL is normalized, and its origin is one of `PUBLIC_ORIGINS`, if that is set. */
  readonly request: Request;
  /** The URL of `request`. Costs much less to read, because it does not make a `Request`. */
  readonly url: URL;
  readonly params: Params;
  readonly context: Context;
  /** Aborted when the visitor leaves. */
  readonly signal: AbortSignal;
  /**
   * True if a link or the browser fetches the page ahead of a click, which may never follow. Cookies that you set are
   * stored all the same, so check it before you change something. A client can send the header of a prefetch with any
   * request, so never skip a check because of it.
   */
  readonly isPrefetch: boolean;
}

/** The arguments of an action. */
export interface ActionArgs<Context = LoaderContext> extends LoaderArgs<Context> {
  readonly form: FormData;
}

/** The result of an action that refuses a form. The page is shown again with the errors and what was typed. */
export class Refusal {
  readonly status: 409 | 422;
  readonly errors: Readonly<Record<string, string>>;

  constructor(status: 409 | 422, errors: Readonly<Record<string, string>>) {
    this.status = status;
    this.errors = errors;
  }
}

interface RefusalDetails {
  /** Messages by field name. The empty name stands for the whole form. */
  readonly errors: Readonly<Record<string, string>>;
}

/** Refuses a form because its fields are not valid (422). Return it from an action. */
export function invalid({ errors }: RefusalDetails): Refusal {
  return new Refusal(422, errors);
}

/** Refuses a valid form because of the current state (409), such as a name that is taken. Return it from an action. */
export function conflict({ errors }: RefusalDetails): Refusal {
  return new Refusal(409, errors);
}

/** The results that the handler of an action can return if the page declares `send(): Sent`. */
type AnswerOf<Action> = Action extends () => infer Data ? Data | Refusal | Promise<Data | Refusal> : never;

/** An action with a limit of its own for its form, whose files can be large: `{ maxBytes: 50 * 1024 * 1024, run }`. */
interface UploadAction<Handler> {
  /** The largest form, with its files (bytes). Other actions accept 1 MiB. */
  readonly maxBytes: number;
  readonly run: Handler;
}

type Action<Handler> = (Handler & { readonly maxBytes?: never }) | UploadAction<Handler>;

/** An action as the engine calls it. */
export type ActionHandler = (args: ActionArgs) => unknown;

/** The handlers of the actions that a page declares. */
type ActionHandlers<Actions, Context> = {
  readonly [Name in keyof Actions]: Action<(args: ActionArgs<Context>) => AnswerOf<Actions[Name]>>;
};

/**
 * The server file of a page or layout, as the engine calls it. Every part is optional. `definePage()` infers the types;
 * a page can also declare them itself, and its file `satisfies ServerPage<OrderData, AppContext, OrderActions>`.
 */
export interface ServerPage<Data = unknown, Context = LoaderContext, Actions = Record<string, () => unknown>> {
  /**
   * Runs before every loader and action of this route and its children, outermost first. Throw `forbidden()`,
   * `redirect()` and the like. Before an action, the request's method is POST. To share a value with loaders, use
   * `oncePerRequest()`.
   */
  readonly guard?: (args: LoaderArgs<Context>) => void | Promise<void>;
  /** Returns the page's data. Promises in it are streamed when they settle. */
  readonly loader?: (args: LoaderArgs<Context>) => Data | Promise<Data>;
  /**
   * Returns a cheap version of the data. If every matched route has one, HEAD and conditional requests run no loader.
   */
  readonly version?: (args: LoaderArgs<Context>) => string | Promise<string>;
  /** Handlers by name. A form names one as `<route id>.<name>`. */
  readonly actions?: ActionHandlers<Actions, Context>;
  /** Names of actions that run without the guards, such as signing in. */
  readonly openActions?: readonly (keyof Actions & string)[];
  /** Other origins that can post forms to this page, such as payment and sign-in providers. */
  readonly acceptPostsFrom?: readonly string[];
  /** Its path in the table of routes, which gives `params` their type. */
  readonly path?: string | undefined;
  /**
   * Parses the search of the URL, `?page=2`. Values that are not valid are ignored: write defaults into the schema. If it
   * needs a key that has none, the answer is 400.
   */
  readonly search?: Schema | undefined;
}

/** The arguments of the parts of a page whose path and search are known. */
type PageArgs<Context, Path extends string | undefined, Search> = LoaderArgs<Context, ParamsIn<Path>> & {
  readonly search: SearchOf<Search>;
};

type SearchOf<Search> = Search extends Schema ? SchemaOutput<Search> : undefined;

/** The part of a value that a URL can have, which is text or a list of text. */
type TextIn<Value> = unknown extends Value
  ? string
  : Value extends readonly (infer Item)[]
    ? TextIn<Item>
    : Extract<Value, string>;

type KeysWithoutText<Input> = {
  [Key in keyof Input]-?: [TextIn<Exclude<Input[Key], undefined>>] extends [never] ? Key : never;
}[keyof Input];

/** Refuses a schema that accepts no text for a key. */
type FromText<Search> =
  Search extends SearchSchema<infer Input, unknown>
    ? [KeysWithoutText<Input>] extends [never]
      ? unknown
      : `The values of a URL are text, and this schema refuses text for "${KeysWithoutText<Input> & string}". For a number, use z.coerce.number(), for a boolean z.stringbool().`
    : unknown;

type PageParts<Context, Path extends string | undefined, Search extends Schema | undefined, Data, Results> = Pick<
  ServerPage,
  'acceptPostsFrom'
> & {
  readonly path?: Path;
  readonly search?: Search & FromText<NoInfer<Search>>;
  readonly guard?: (args: LoaderArgs<Context, ParamsIn<NoInfer<Path>>>) => void | Promise<void>;
  readonly loader?: (args: PageArgs<Context, NoInfer<Path>, NoInfer<Search>>) => Data;
  readonly version?: (args: PageArgs<Context, NoInfer<Path>, NoInfer<Search>>) => string | Promise<string>;
  readonly actions?: {
    readonly [Name in keyof Results]: Action<
      (args: PageArgs<Context, NoInfer<Path>, NoInfer<Search>> & Pick<ActionArgs, 'form'>) => Results[Name]
    >;
  };
  readonly openActions?: readonly OpenAction<NoInfer<Results>>[];
};

/** Any text while the compiler has not inferred the actions, or it would refuse the page before it does. */
type OpenAction<Results> = unknown extends Results ? string : keyof Results & string;

/** An action in the shape in which it was defined. */
type Defined<Given, Handler> = Given extends UploadAction<unknown> ? UploadAction<Handler> : Handler;

/** A server file whose types were inferred. */
type DefinedPage<Context, Path extends string | undefined, Search, Data, Results, Actions> = Omit<
  ServerPage<unknown, Context>,
  'loader' | 'actions' | 'search'
> & { readonly search?: Search } & TypedHalf<{
    data: Awaited<Data>;
    params: ParamsIn<Path>;
    search: SearchOf<Search>;
    results: { [Name in keyof Results]: Exclude<Awaited<Results[Name]>, Refusal> };
  }> &
  // For tests, which call them.
  (unknown extends Data ? unknown : { readonly loader: (args: LoaderArgs<Context>) => Data }) & {
    readonly actions: {
      readonly [Name in keyof Results & keyof Actions]: Defined<
        Actions[Name],
        (args: ActionArgs<Context>) => Results[Name]
      >;
    };
  };

/**
 * Creates `definePage`, once per app: `export const definePage = createDefinePage<AppContext, typeof routes>()`. A page
 * gets all types from its server file: `PageProps<typeof order>`.
 */
export function createDefinePage<Context, Table extends readonly RouteLine[]>() {
  return function definePage<
    const Path extends PathOf<Table> | undefined = undefined,
    Search extends Schema | undefined = undefined,
    Data = unknown,
    Results = unknown,
    Actions = unknown,
  >(
    parts: PageParts<Context, Path, Search, Data, Results> & { readonly actions?: Actions },
  ): DefinedPage<Context, Path, Search, Data, Results, Actions> {
    calls.set(parts, captureCall(definePage));
    // The engine calls each part with the arguments of its route.
    return parts as unknown as DefinedPage<Context, Path, Search, Data, Results, Actions>;
  };
}

/** The calls of `definePage`, by what they returned. */
const calls = new WeakMap<object, Error>();

/** @param part `loader`, `guard` or `actions.<name>` */
export function definitionOf(page: object | null | undefined, part: string): Definition | undefined {
  const call = page ? calls.get(page) : undefined;
  return call && { call, part };
}

/** Server files by route id, as the engine uses them. */
export type PageTable<Context = LoaderContext> = Readonly<
  Record<string, ServerPage<unknown, Context> | null | undefined>
>;

/**
 * The table of server files: `satisfies ServerPages<typeof routes, AppContext, typeof href>`. It has every route id,
 * with null for a page without a server file. `href` must know the schema of each search, or nothing would check the
 * links to that page.
 *
 * Pages that declare their data and actions themselves are checked if the table of actions is the third argument: then
 * a page that takes `data` needs a loader that returns it.
 */
export type ServerPages<Table extends readonly RouteLine[], Context = LoaderContext, Uses = undefined> = {
  readonly [Id in RouteIdOf<Table> | IdIn<Uses>]: Uses extends undefined
    ? ServerPage<unknown, Context> | null
    : Uses extends KnowsSearches<infer Searches>
      ? (ServerPage<unknown, Context> & SearchingHalf<LineOf<Table, Id>, Searches>) | null
      : Id extends RouteIdOf<Table>
        ? ServerHalf<Id, LineOf<Table, Id>, Context> & ActingHalf<Id, Uses, Context>
        : `"${Id}" is not a route of src/shared/product/routes.tsx. Correct its name in your table of actions.`;
};

/** A function that `createHref` made. */
type KnowsSearches<Searches> = ((...args: never) => string) & { readonly searches?: Searches };

type IdIn<Uses> = Uses extends (...args: never) => unknown ? never : keyof Uses & string;

type SearchingHalf<Line, Searches> = Line extends { readonly path: infer Path extends string }
  ? {
      readonly search?: Path extends keyof Searches
        ? Searches[Path]
        : `Add the search of ${Path} to src/shared/product/href.ts: createHref<typeof routes, { '${Path}': typeof itsSchema }>()`;
    }
  : unknown;

/** A server file with the actions that its page declares. The first parameter appears in the compiler's message. */
export interface ActingPage<_Id extends string, Actions, Context> {
  readonly actions: ActionHandlers<Actions, Context>;
}

type ActingHalf<Id extends string, Actions, Context> = Id extends keyof Actions
  ? ActingPage<Id, Actions[Id], Context>
  : unknown;

/** A server file with the loader that its page needs. The first parameter appears in the compiler's message. */
export interface LoadingPage<_Id extends string, Data, Context> extends ServerPage<Data, Context> {
  readonly loader: (args: LoaderArgs<Context>) => Data | Promise<Data>;
}

type ServerHalf<Id extends string, Line, Context> = Line extends { readonly page: () => Promise<infer Module> }
  ? Module extends { readonly default: (...args: infer Props) => unknown }
    ? Props extends readonly [{ readonly data: infer Data }, ...unknown[]]
      ? LoadingPage<Id, Data, Context>
      : ServerPage<unknown, Context> | null
    : `The page "${Id}" does not export a component as its default. src/shared/product/routes.tsx names its file.`
  : never;

/** The line of a table that has an id. */
type LineOf<Table extends readonly RouteLine[], Id extends string> = Table[number] extends infer Line
  ? Line extends { readonly id: Id }
    ? Line
    : Line extends { readonly children: infer Children extends readonly RouteLine[] }
      ? LineOf<Children, Id>
      : never
  : never;
