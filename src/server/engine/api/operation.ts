import { createHash } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import * as z from 'zod';
import { notFoundHere } from '../errors/http-error.ts';
import { sendProblem } from '../errors/problem.ts';
import { matchesEtag } from '../request/etag.ts';
import { requestInfo } from '../request/request-info.ts';
import { sendLines } from '../request/send-lines.ts';
import { jsonBody } from './body-limits.ts';
import { type FieldErrors, toFieldErrors } from './field-errors.ts';

/** A successful reply of an operation. With neither schema, it has no body. */
export interface ReplyFacts {
  readonly about: string;
  /** Schema of the JSON that is sent. */
  readonly body?: z.core.$ZodType;
  /** Schema of each line of `application/x-ndjson`, which is sent as it is made. */
  readonly lines?: z.core.$ZodType;
  /** Describes its headers: `{ Location: 'URL of the new person.' }` */
  readonly headers?: Readonly<Record<string, string>>;
}

export type Replies = Readonly<Record<number, ReplyFacts>>;

/** Describes an operation. The same schemas document it and check its requests. */
export interface OperationFacts {
  /** Its name within a document: `listPeople`. */
  readonly id: string;
  readonly summary: string;
  readonly about?: string;
  /** Parts of the path. A mismatch is 404. */
  readonly params?: z.core.$ZodObject;
  /** Query parameters. A mismatch is 400. */
  readonly query?: z.core.$ZodObject;
  /** Headers by their names in lower case. A mismatch is 400. */
  readonly headers?: z.core.$ZodObject;
  /** The JSON body. A mismatch is 422. */
  readonly body?: z.core.$ZodType;
  readonly replies: Replies;
  /** Errors that it throws, by status: `{ 404: 'No person has this id.' }` */
  readonly problems?: Readonly<Record<number, string>>;
  /** The operation needs no credentials. This only changes the document: the check itself is elsewhere. */
  readonly isOpen?: boolean;
}

/** A method of a resource that describes what it accepts and answers. */
export interface Operation {
  readonly facts: OperationFacts;
  readonly handlers: readonly RequestHandler[];
}

type Parsed<Schema> = Schema extends z.core.$ZodType ? z.output<Schema> : undefined;

/** The request, parsed with its schemas. */
export interface Asked<Facts extends OperationFacts> {
  readonly params: Parsed<Facts['params']>;
  readonly query: Parsed<Facts['query']>;
  readonly headers: Parsed<Facts['headers']>;
  readonly body: Parsed<Facts['body']>;
}

/** The value that a schema describes, deeply readonly. */
export type Sent<Value> = Value extends object ? { readonly [Key in keyof Value]: Sent<Value[Key]> } : Value;

type Content<Facts> = Facts extends { readonly body: infer Body extends z.core.$ZodType }
  ? { readonly body: Sent<z.input<Body>> }
  : Facts extends { readonly lines: infer Line extends z.core.$ZodType }
    ? { readonly lines: AsyncIterable<Sent<z.input<Line>>> }
    : object;

/** One of the replies that the operation declares. */
export type Reply<Promised extends Replies> = {
  [Status in keyof Promised & number]: {
    readonly status: Status;
    readonly headers?: Readonly<Record<string, string>>;
  } & Content<Promised[Status]>;
}[keyof Promised & number];

type Handle<Facts extends OperationFacts> = (
  asked: Asked<Facts>,
  request: Request,
) => Reply<Facts['replies']> | Promise<Reply<Facts['replies']>>;

export interface HandleOptions<Facts extends OperationFacts> {
  /**
   * Identifies the version of what a GET would answer. If the caller already has it, the answer is 304 and the
   * handler does not run. Without this function, the whole answer is made and then compared.
   */
  readonly version?: (asked: Asked<Facts>, request: Request) => string | Promise<string>;
}

export interface Described<Facts extends OperationFacts> {
  handle(handle: Handle<Facts>, options?: HandleOptions<Facts>): Operation;
}

/**
 * Checks requests with the schemas that also document them. A handler that returns an undeclared status or body
 * does not compile.
 */
export function operation<const Facts extends OperationFacts>(facts: Facts): Described<Facts> {
  return {
    handle(handle, { version } = {}) {
      async function answer(request: Request, response: Response): Promise<void> {
        const parsed = parse(facts, request, response);
        if (!parsed) return;
        const asked = parsed as unknown as Asked<Facts>; // parsed with the schemas of these facts
        if (version) {
          response.setHeader('ETag', `W/"${encodeURIComponent(await version(asked, request))}"`);
          if (hasAlready(request, response)) return void response.status(304).end();
        }
        await send(await handle(asked, request), request, response);
      }
      return { facts, handlers: facts.body ? [...jsonBody(), answer] : [answer] };
    },
  };
}

interface Part {
  readonly schema: z.core.$ZodType | undefined;
  readonly value: unknown;
}

/** @returns undefined if something is wrong, and the error is sent */
function parse(facts: OperationFacts, request: Request, response: Response): Record<string, unknown> | undefined {
  const { searchParams } = requestInfo(request).url;
  const params = readPart({ schema: facts.params, value: request.params });
  if ('errors' in params) throw notFoundHere();
  const query = readPart({ schema: facts.query, value: Object.fromEntries(searchParams) });
  const twice = facts.query ? toDoubles(searchParams) : {};
  if ('errors' in query || Object.keys(twice).length > 0) {
    return refuse(response, 400, 'The query is not valid.', {
      ...('errors' in query && query.errors),
      ...twice,
    });
  }
  const headers = readPart({ schema: facts.headers, value: request.headers });
  if ('errors' in headers) return refuse(response, 400, 'A header of the request is not valid.', headers.errors);
  const body = readPart({ schema: facts.body, value: request.body });
  if ('errors' in body) return refuse(response, 422, 'The request is not valid.', body.errors);
  return { params: params.value, query: query.value, headers: headers.value, body: body.value };
}

function readPart({ schema, value }: Part): { readonly value: unknown } | { readonly errors: FieldErrors } {
  if (!schema) return { value: undefined };
  const read = z.safeParse(schema, value);
  return read.success ? { value: read.data } : { errors: toFieldErrors(read.error) };
}

/** Reports repeated parameters, because one of two values would be dropped silently. */
function toDoubles(search: URLSearchParams): FieldErrors {
  const names = [...search.keys()].filter((name) => search.getAll(name).length > 1);
  return Object.fromEntries(names.map((name) => [name, 'Send it only once.']));
}

function refuse(response: Response, status: number, message: string, errors: FieldErrors): undefined {
  sendProblem(response, { kind: 'public', status, message }, errors);
}

interface AnyReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly lines?: AsyncIterable<unknown>;
}

async function send(reply: AnyReply, request: Request, response: Response): Promise<void> {
  response.status(reply.status).set(reply.headers ?? {});
  if (reply.lines) await sendLines(request, response, reply.lines);
  else if (reply.body === undefined) response.end();
  else sendJson(request, response, JSON.stringify(reply.body));
}

function sendJson(request: Request, response: Response, text: string): void {
  if (request.method === 'GET' || request.method === 'HEAD') {
    if (!response.hasHeader('ETag')) response.setHeader('ETag', toTag(text));
    if (hasAlready(request, response)) return void response.status(304).end();
  }
  response.type('json').send(text);
}

function toTag(text: string): string {
  return `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 16)}"`;
}

/**
 * Express's own comparison yields to `Cache-Control: no-cache`, which `fetch` adds to every request whose caller sets
 * `If-None-Match`. That header is meant for caches, and this server is not a cache.
 */
function hasAlready(request: Request, response: Response): boolean {
  return matchesEtag(request.headers['if-none-match'], String(response.getHeader('ETag')));
}
