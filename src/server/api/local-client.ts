import type { Request } from 'express';
import { type AnyInput, type AnyResult, ApiError, type Client, toClient, toSearch } from '../../shared/api/client.ts';
import type { Method } from '../../shared/api/operation.ts';
import { presentProblem } from '../errors/problem.ts';
import { HttpError, toPublicError } from '../request/http-error.ts';
import { InvalidInput, type ServedOperation, toTag } from './run-operation.ts';

const served = new WeakMap<object, readonly ServedOperation[]>();

/** Lets `localClient()` find the operations of an Express app. */
export function provideOperations(app: object, operations: readonly ServedOperation[]): void {
  served.set(app, operations);
}

/**
 * A client that calls operations in this process, for loaders and actions. Input, caller and reply are checked as they
 * are for a request, without one. The caller is the visitor of `request`.
 *
 * @throws what the handler throws, so that a failure keeps its address
 */
export function localClient<Api>(request: Request): Client<Api> {
  return toClient<Api>((method, path, input) => call(request, method, path, input));
}

async function call(request: Request, method: Method, path: string, input: AnyInput): Promise<AnyResult> {
  const operation = served.get(request.app)?.find(({ facts }) => facts.method === method && facts.path === path);
  if (!operation)
    throw new Error(
      `The API has no operation ${method} ${path}. Return it from \`api\` in src/server/product/index.ts.`,
    );
  input.signal?.throwIfAborted();
  try {
    const reply = await operation.run({
      params: Object.fromEntries(Object.entries(input.params ?? {}).map(([name, value]) => [name, String(value)])),
      query: () => toSearch(input.query ?? {}),
      headers: { ...request.headers, ...toLowerCase(input.headers) },
      toRequest: () => request,
      toSignal: () => input.signal ?? new AbortController().signal,
      body: async () => input.body,
    });
    if (!reply) throw new ApiError(304);
    const { status, body, headers, version, next, lines } = reply;
    const sent = new Headers(headers);
    if (version !== undefined) sent.set('ETag', toTag(version));
    return { ok: true, status, body, headers: sent, next, lines };
  } catch (error) {
    const shown = error instanceof HttpError && error.status < 500 ? toPublicError(error) : undefined;
    if (!shown) throw error;
    return {
      ok: false,
      problem: { ...presentProblem(shown), ...(error instanceof InvalidInput && { errors: error.errors }) },
    };
  }
}

function toLowerCase(headers: AnyInput['headers'] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
