import type { Request } from 'express';
import type {
  ApiSchema,
  InputOf,
  OperationFacts,
  Operations,
  OutputOf,
  Replies,
  Sent,
} from '../../shared/api/operation.ts';
import { WiringError } from '../errors/wiring-error.ts';
import { captureCall, type Definition } from '../request/definition.ts';
import type { Auth, Caller } from './auth.ts';

type Parsed<Facts extends OperationFacts, Part extends 'params' | 'query' | 'headers' | 'body'> = Facts extends {
  readonly [P in Part]: infer Schema extends ApiSchema;
}
  ? { readonly [P in Part]: OutputOf<Schema> }
  : object;

/** The checked request that a handler gets. */
type HandlerInput<Facts extends OperationFacts, Who> = Parsed<Facts, 'params'> &
  Parsed<Facts, 'query'> &
  Parsed<Facts, 'headers'> &
  Parsed<Facts, 'body'> & {
    readonly request: Request;
    /**
     * Aborts when the caller leaves. For an operation whose `lines` are endless, also when the server stops. Pass it to what
     * waits: `fetch(url, { signal })`, `events.on(emitter, 'change', { signal })`. Its `AbortError` is no failure.
     */
    readonly signal: AbortSignal;
  } & ([Who] extends [never] ? object : Facts extends { readonly isOpen: true } ? object : { readonly caller: Who }) &
  (Facts extends { readonly paged: object }
    ? {
        /** What the last reply had as `next`, and how many items to return at most. */
        readonly page: { readonly cursor: string | undefined; readonly limit: number };
      }
    : object) &
  (Facts extends { readonly ifMatch: true }
    ? {
        /** Call it before the change. @throws HttpError 412 if the caller knows another version */
        readonly match: (version: string) => void;
      }
    : object);

type Content<Facts> = Facts extends { readonly body: infer Body extends ApiSchema }
  ? { readonly body: Sent<InputOf<Body>> }
  : Facts extends { readonly lines: infer Line extends ApiSchema }
    ? { readonly lines: AsyncIterable<Sent<InputOf<Line>>> }
    : object;

/** One of the responses that an operation describes. */
export type Reply<Facts extends OperationFacts> = ReplyOf<Facts['replies'], Facts>;

type ReplyOf<Described extends Replies, Facts> = {
  [Status in keyof Described & number]: {
    readonly status: Status;
    readonly headers?: Readonly<Record<string, string>>;
    /** Names the state of the resource. It becomes the `ETag`. By default, a GET has a hash of its body. */
    readonly version?: string;
  } & Content<Described[Status]> &
    (Facts extends { readonly paged: object }
      ? {
          /** The cursor of the next page. Undefined on the last one. */
          readonly next?: string | undefined;
        }
      : object);
}[keyof Described & number];

type Handle<Facts extends OperationFacts, Who> = (
  input: HandlerInput<Facts, Who>,
) => Reply<Facts> | Promise<Reply<Facts>>;

/** A handler, or a handler with a cheap version of what it would answer. */
export type Handler<Facts extends OperationFacts, Who> =
  | Handle<Facts, Who>
  | {
      /** Names the state of the response. If the caller has it, the handler does not run: the response is 304, or 412 to a change. */
      readonly version: (input: HandlerInput<Facts, Who>) => string | Promise<string>;
      readonly handle: Handle<Facts, Who>;
    };

export type Handlers<Described extends Operations, Who> = {
  readonly [Name in keyof Described]: Handler<Described[Name], Who>;
};

interface ImplementOptions<Who extends Caller> {
  /** How callers authenticate. Operations with `isOpen` need no authentication. */
  readonly auth?: Auth<Who>;
}

/** An operation with its handler, without their types. */
export interface Implemented {
  readonly name: string;
  readonly facts: OperationFacts;
  readonly auth: Auth | undefined;
  readonly version: ((input: never) => string | Promise<string>) | undefined;
  readonly handle: (input: never) => AnyReply | Promise<AnyReply>;
  readonly definition: Definition;
}

export interface AnyReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly version?: string;
  readonly next?: string | undefined;
  readonly body?: unknown;
  readonly lines?: AsyncIterable<unknown>;
}

/** Operations with their handlers: a part of what the product's `api` returns. */
export interface ApiPart {
  readonly implemented: readonly Implemented[];
}

/**
 * Connects operations with their handlers. A handler gets the checked request, and returns one of the responses that its
 * operation describes: anything else does not compile.
 *
 * @throws WiringError if an operation has no handler
 */
export function implement<const Described extends Operations, Who extends Caller = never>(
  operations: Described,
  handlers: NoInfer<Handlers<Described, Who>>,
  { auth }: ImplementOptions<Who> = {},
): ApiPart {
  const call = captureCall(implement);
  const implemented = Object.entries(operations).map(([name, facts]): Implemented => {
    const handler = handlers?.[name] as unknown as Handler<OperationFacts, Who>; // it has the same names
    const { version, handle } =
      typeof handler === 'function' ? { version: undefined, handle: handler } : (handler ?? {});
    if (typeof handle !== 'function') {
      const { method, path } = facts;
      throw new WiringError(
        `The operation "${name}" (${method} ${path}) has no handler. Add \`${name}\` to the handlers in implement().`,
      );
    }
    return { name, facts, auth: facts.isOpen ? undefined : auth, version, handle, definition: { call, part: name } };
  });
  return { implemented };
}
