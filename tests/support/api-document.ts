import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import type { Response } from 'supertest';
import type { OpenApi, OpenApiOperation } from '../../src/server/engine/api/openapi.ts';

/** An OpenAPI document that responses are checked against, for tests of an API that describes itself. */
export interface ApiDocument {
  /** Each operation with the statuses that it documents: `['getIncident', 'get', '/api/…', ['200', '304']]`. */
  readonly operations: readonly { id: string; method: string; path: string; statuses: readonly string[] }[];
  /**
   * Lists how a response differs from the document; empty if it matches. Adds the response to `seen`.
   *
   * @param path as it was requested
   */
  complain(method: string, path: string, reply: Response): string[];
  /** `getIncident 404` for each response that was checked. */
  readonly seen: ReadonlySet<string>;
}

export function readApiDocument(document: OpenApi): ApiDocument {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormatsModule.default(ajv);
  ajv.addSchema(document, 'document');
  const seen = new Set<string>();
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, facts]) => ({ path, method, facts, pattern: toPattern(path) })),
  );

  function judge(pointer: string, value: unknown): string[] {
    const validate = ajv.getSchema(`document#${pointer}`);
    if (!validate) return [`There is no schema at ${pointer}.`];
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  }

  return {
    seen,
    operations: operations.map(({ path, method, facts }) => ({
      id: facts.operationId,
      method,
      path,
      statuses: Object.keys(facts.responses).filter((status) => status !== 'default'),
    })),
    complain(method, path, reply) {
      const [asked = ''] = path.split('?');
      const found = operations.find((one) => one.method === method.toLowerCase() && one.pattern.test(asked));
      if (!found) return [`${method} ${asked} is not in the document.`];
      const { operationId: id, responses } = found.facts;
      const status = responses[reply.status] ? String(reply.status) : 'default';
      if (status === 'default' && reply.status !== 500) return [`${id} does not document ${reply.status}.`];
      seen.add(`${id} ${status}`);
      return complainOf(found, status, reply);
    },
  };

  function complainOf(
    { path, method, facts }: { path: string; method: string; facts: OpenApiOperation },
    status: string,
    reply: Response,
  ): string[] {
    const { content = {}, headers = {} } = facts.responses[status] ?? {};
    const missing = Object.keys(headers).filter((name) => ALWAYS.has(name) && !reply.headers[name.toLowerCase()]);
    const missingWords = missing.map((name) => `The header ${name} is missing.`);
    const [type] = Object.keys(content);
    if (type === undefined) return reply.text ? ['There is a body.', ...missingWords] : missingWords;
    const given = String(reply.headers['content-type']).split(';')[0];
    if (given !== type) return [`It is ${given} and not ${type}.`];
    const steps = ['paths', path, method, 'responses', status, 'content', type, 'schema'];
    const pointer = steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
    const texts = type === 'application/x-ndjson' ? reply.text.trimEnd().split('\n') : [reply.text];
    return [...missingWords, ...texts.flatMap((text) => judge(encodeURI(pointer), JSON.parse(text)))];
  }
}

/** Always sent. Other headers are sent only if they have a value. */
const ALWAYS = new Set(['ETag', 'Location']);

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`);
}
