import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import type { OpenApi, OpenApiOperation } from '../../src/server/engine/api/openapi.ts';
import { PROBLEM_TYPE } from '../../src/server/engine/errors/problem.ts';

/** The parts of a response that are checked. A response of supertest has them. */
export interface ApiReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export interface DocumentedOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly statuses: readonly string[];
}

/** An OpenAPI document that responses are checked against, for tests of an API that describes itself. */
export interface ApiDocument {
  /** Each operation with the statuses that it documents: `['getIncident', 'get', '/api/…', ['200', '304']]`. */
  readonly operations: readonly DocumentedOperation[];
  /** @param path as it was requested */
  find(method: string, path: string): DocumentedOperation | undefined;
  /**
   * Lists how a response differs from the document; empty if it matches. Adds the response to `seen`.
   *
   * @param path as it was requested
   */
  complain(method: string, path: string, reply: ApiReply): string[];
  /** Lists what is wrong with an error, which can be the answer of no operation. */
  complainOfProblem(reply: ApiReply): string[];
  /** Lists how a request's JSON differs from what the document describes. Keys that the server removes do not count. */
  complainOfBody(method: string, path: string, text: string): string[];
  /** `getIncident 404` for each response that was checked. */
  readonly seen: ReadonlySet<string>;
}

export function readApiDocument(document: OpenApi): ApiDocument {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormatsModule.default(ajv);
  ajv.addSchema(document, 'document');
  const seen = new Set<string>();
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, facts]) => ({
      id: facts.operationId,
      method,
      path,
      statuses: Object.keys(facts.responses).filter((status) => status !== 'default'),
      facts,
      pattern: toPattern(path),
    })),
  );

  function find(method: string, path: string) {
    const [asked = ''] = path.split('?');
    return operations.find((one) => one.method === method.toLowerCase() && one.pattern.test(asked));
  }

  function judge(steps: readonly string[], text: string): string[] {
    const pointer = steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
    const validate = ajv.getSchema(`document#${encodeURI(pointer)}`);
    if (!validate) return [`There is no schema at ${pointer}.`];
    const value = parse(text);
    if (value === undefined) return ['The body is not JSON.'];
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  }

  function complainOfProblem(reply: ApiReply): string[] {
    const type = toType(reply);
    if (type !== PROBLEM_TYPE) return [`It is ${type} and not ${PROBLEM_TYPE}.`];
    const complaints = judge(['components', 'schemas', 'Problem'], reply.text);
    if (complaints.length > 0) return complaints;
    const { status, title } = JSON.parse(reply.text);
    const header = HEADERS_OF_ERRORS[reply.status];
    return [
      ...(status === reply.status ? [] : [`The status in the body is ${status} and not ${reply.status}.`]),
      ...(title === '' ? ['The title is empty.'] : []),
      ...(header && !reply.headers[header.toLowerCase()] ? [`The header ${header} is missing.`] : []),
    ];
  }

  function complainOf({ path, method, facts }: Described, status: string, reply: ApiReply): string[] {
    const { content = {}, headers = {} } = facts.responses[status] ?? {};
    const expected = Object.keys(headers).filter((name) => ALWAYS.has(name));
    if (facts.deprecated) expected.push('Deprecation');
    const missing = expected.filter((name) => !reply.headers[name.toLowerCase()]);
    const complaints = missing.map((name) => `The header ${name} is missing.`);
    const [type] = Object.keys(content);
    if (type === PROBLEM_TYPE) return [...complaints, ...complainOfProblem(reply)];
    if (type === undefined) return reply.text ? [...complaints, 'There is a body.'] : complaints;
    if (toType(reply) !== type) return [...complaints, `It is ${toType(reply)} and not ${type}.`];
    const steps = ['paths', path, method, 'responses', status, 'content', type, 'schema'];
    const texts = type === 'application/x-ndjson' ? reply.text.split('\n').slice(0, -1) : [reply.text];
    return [...complaints, ...texts.flatMap((text) => judge(steps, text))];
  }

  return {
    seen,
    operations,
    find,
    complainOfProblem,
    complainOfBody(method, path, text) {
      const found = find(method, path);
      if (!found?.facts.requestBody) return [];
      return judge(['paths', found.path, found.method, 'requestBody', 'content', 'application/json', 'schema'], text);
    },
    complain(method, path, reply) {
      const found = find(method, path);
      if (!found) return [`${method} ${path} is not in the document.`];
      const isListed = found.statuses.includes(String(reply.status));
      if (!isListed && reply.status !== 500) return [`${found.id} does not document ${reply.status}.`];
      const status = isListed ? String(reply.status) : 'default';
      seen.add(`${found.id} ${status}`);
      return complainOf(found, status, reply);
    },
  };
}

interface Described extends DocumentedOperation {
  readonly facts: OpenApiOperation;
}

/** Always sent. Other headers are sent only if they have a value. */
const ALWAYS = new Set(['ETag', 'Location', 'RateLimit', 'RateLimit-Policy']);

/** Headers that errors have to have. */
const HEADERS_OF_ERRORS: Readonly<Record<number, string>> = {
  401: 'WWW-Authenticate',
  405: 'Allow',
  429: 'Retry-After',
};

function toType({ headers }: ApiReply): string {
  return String(headers['content-type']).split(';')[0] ?? '';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text, (key, value) => (key === '__proto__' ? undefined : value));
  } catch {
    return undefined;
  }
}

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`);
}
