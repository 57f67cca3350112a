export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A schema of zod 4, Valibot, ArkType or another library that converts to JSON Schema: https://standardschema.dev */
export interface ApiSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly jsonSchema: Readonly<Record<'input' | 'output', (options: { target: 'draft-2020-12' }) => object>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A successful response. Without `body` and `lines` it has no body. */
export interface ReplyFacts {
  readonly about: string;
  /** The JSON. */
  readonly body?: ApiSchema;
  /** One line of `application/x-ndjson`. Lines are sent while they are made. */
  readonly lines?: ApiSchema;
  /** The lines end only if the caller leaves or the server stops: then `signal` aborts. Others can finish during a stop. */
  readonly isEndless?: true;
  /** Descriptions of its headers: `{ Location: 'The URL of the todo.' }` */
  readonly headers?: Readonly<Record<string, string>>;
}

export type Replies = Readonly<Record<number, ReplyFacts>>;

/** How many requests of one caller, or of one address without a valid caller, are accepted: `60/min`. */
export type Limit = `${number}/${'s' | 'min' | 'hour' | 'day'}`;

/** A method and a path of an API: what it accepts, what it answers. Server, document and client follow it. */
export interface OperationFacts {
  readonly method: Method;
  /** Under `/api`, such as `/todos/:id`. */
  readonly path: `/${string}`;
  readonly summary: string;
  /** Markdown. */
  readonly about?: string;
  /** Parts of the path. If they are not valid, the response is 404. */
  readonly params?: ApiSchema;
  /** Search parameters. If they are not valid, the response is 400. */
  readonly query?: ApiSchema;
  /** Headers, by their names in lower case. If they are not valid, the response is 400. */
  readonly headers?: ApiSchema;
  /** JSON. If it is not valid, the response is 422. */
  readonly body?: ApiSchema;
  /**
   * The body is `multipart/form-data` of at most this size (bytes), and its files are `File`s: `z.file()`. A body without
   * files can be JSON.
   */
  readonly multipart?: { readonly maxBytes: number };
  readonly replies: Replies;
  /** Errors that callers should know, by status: `{ 404: 'There is no todo with this id.' }` */
  readonly problems?: Readonly<Record<number, string>>;
  /** Needs no authentication, although the others do. */
  readonly isOpen?: true;
  /** Beyond it, the response is 429. */
  readonly limit?: Limit;
  /**
   * A POST with an `Idempotency-Key` runs once: the same request within a day gets the same response. Without callers, a
   * key needs 16 characters or more.
   */
  readonly idempotent?: true;
  /** Compares `If-Match` with the version that the handler gives to `match()`: 412 if it is another one. */
  readonly ifMatch?: true;
  /** Adds the parameters `cursor` and `limit`, and a `Link` to the next page. */
  readonly paged?: { readonly limit: number; readonly max: number };
  readonly deprecated?: Deprecation;
}

/** Dates are ISO 8601, such as `2026-11-23`. */
export interface Deprecation {
  readonly since: string;
  /** When it will stop working. */
  readonly sunset?: string;
  /** Where to read what to use instead. */
  readonly link?: string;
}

/** Operations of an API by their name, which is the `operationId` in the document. */
export type Operations = Readonly<Record<string, OperationFacts>>;

/** Describes a method and a path of the API. Its schemas check requests and responses, and make the document. */
export function operation<const Facts extends OperationFacts>(facts: Facts): Facts {
  return facts;
}

export type InputOf<Schema> = Schema extends ApiSchema ? NonNullable<Schema['~standard']['types']>['input'] : undefined;
export type OutputOf<Schema> = Schema extends ApiSchema
  ? NonNullable<Schema['~standard']['types']>['output']
  : undefined;

/** Statuses that an operation answers by itself, besides its own problems. */
export type ProblemStatus<Facts extends OperationFacts> =
  | (keyof Facts['problems'] & number)
  | (Facts extends { readonly params: ApiSchema } ? 404 : never)
  | (Facts extends { readonly query: ApiSchema } | { readonly headers: ApiSchema } | { readonly paged: object }
      ? 400
      : never)
  | (Facts extends { readonly body: ApiSchema } ? 400 | 413 | 415 | 422 : never)
  | (Facts extends { readonly ifMatch: true } ? 412 : never)
  | (Facts extends { readonly limit: Limit } ? 429 : never)
  | (Facts extends { readonly idempotent: true } ? 400 | 409 | 422 : never);

/** What a schema describes, read only. */
export type Sent<Value> = Value extends object ? { readonly [Key in keyof Value]: Sent<Value[Key]> } : Value;
