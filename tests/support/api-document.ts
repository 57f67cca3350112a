import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import type { OpenApi, OpenApiOperation } from '../../src/server/api/openapi.ts';
import { PROBLEM_TYPE } from '../../src/shared/api/problem.ts';

/** The parts of a response that are checked. A response of supertest has them. */
interface ApiReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export type ApiDocument = ReturnType<typeof readApiDocument>;

/** Reads an OpenAPI document that responses are checked against, for tests of an API that describes itself. */
export function readApiDocument(document: OpenApi) {
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
      pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
    })),
  );

  function judge(steps: readonly string[], text: string): string[] {
    const pointer = steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
    const validate = ajv.getSchema(`document#${encodeURI(pointer)}`);
    if (!validate) return [`There is no schema at ${pointer}.`];
    if (validate(JSON.parse(text))) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  }

  function complainOfProblem(reply: ApiReply): string[] {
    const complaints = judge(['components', 'schemas', 'Problem'], reply.text);
    const { status } = JSON.parse(reply.text);
    return status === reply.status ? complaints : [...complaints, `The problem has the status ${status}.`];
  }

  function complainOf(path: string, method: string, facts: OpenApiOperation, status: string, reply: ApiReply) {
    const { content = {} } = facts.responses[status] ?? {};
    const [type] = Object.keys(content);
    if (type === undefined) return reply.text ? ['There is a body.'] : [];
    const sent = String(reply.headers['content-type']).split(';')[0];
    if (sent !== type) return [`It is ${sent} and not ${type}.`];
    if (type === PROBLEM_TYPE) return complainOfProblem(reply);
    const steps = ['paths', path, method, 'responses', status, 'content', type, 'schema'];
    return judge(steps, reply.text);
  }

  return {
    /** `getIncident 404` for each response that was checked. */
    seen,
    operations,
    /**
     * Lists how a response differs from the document; empty if it matches. Adds the response to `seen`.
     *
     * @param target as it was requested
     */
    complain(method: string, target: string, reply: ApiReply): string[] {
      const [asked = ''] = target.split('?');
      const found = operations.find((one) => one.method === method.toLowerCase() && one.pattern.test(asked));
      if (!found) return [`${method} ${target} is not in the document.`];
      const { id, path, facts, statuses } = found;
      const isListed = statuses.includes(String(reply.status));
      if (!isListed && reply.status !== 500) return [`${id} does not document ${reply.status}.`];
      const status = isListed ? String(reply.status) : 'default';
      seen.add(`${id} ${status}`);
      return complainOf(path, found.method, facts, status, reply);
    },
  };
}
