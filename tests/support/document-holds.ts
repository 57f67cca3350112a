import type { RequestListener } from 'node:http';
import fc from 'fast-check';
import { expect } from 'vitest';
import { type ApiStore, createMemoryStore } from '../../src/server/engine/api/api-store.ts';
import { spellPath } from '../../src/server/engine/protection/path-spelling.ts';
import { decodePercent } from '../../src/server/engine/request/decode-percent.ts';
import { MAX_TARGET_LENGTH } from '../../src/server/limits.ts';
import { type ApiDocument, type ApiReply, readApiDocument } from './api-document.ts';
import { type ApiRequest, checkRuns, createMemory, type Plan, planRequests } from './api-requests.ts';
import { startApiSender, toCurl } from './api-sender.ts';

/** At least so many requests, in runs that begin with a new app. A few of a run are left out. */
const REQUESTS = 5000;
const RUN = 50;
const RUNS = 105;

export interface TestedApi {
  /** @param store for `apiStore` */
  readonly create: (store: ApiStore) => RequestListener;
  readonly tokens?: readonly string[];
  /** Paths of lists whose items exist when a run begins. */
  readonly lists?: readonly string[];
}

/**
 * Sends 5,000 requests that are made from the document of an API.
 *
 * @throws AssertionError if the document does not describe a response, or describes a status that no response has
 */
export async function expectDocumentHolds({ create, tokens = [], lists = [] }: TestedApi): Promise<void> {
  const sender = await startApiSender();
  try {
    sender.serve(create(createMemoryStore()));
    const openApi = JSON.parse((await get('/api/openapi.json')).text);
    const document = readApiDocument(openApi);
    const starts: [target: string, reply: ApiReply][] = [];
    for (const path of lists) starts.push([path, await get(path)]);
    let sent = 0;

    async function run(plans: readonly (Plan | undefined)[], mood: Mood): Promise<void> {
      sender.serve(create(createStore(mood)));
      const memory = createMemory(document);
      for (const [target, reply] of starts) memory.learn({ method: 'GET', target }, reply);
      const requests: ApiRequest[] = [];
      for (const plan of plans) {
        if (!plan) continue;
        const request = plan(memory);
        requests.push(request);
        const reply = await sender.send(request);
        sent += 1;
        const complaints = complainOf(request, reply, document);
        if (complaints.length > 0) throw new Error(toStory(requests, reply, complaints));
        memory.learn(request, reply);
      }
    }

    const plans = fc.array(fc.option(planRequests(openApi, tokens), { nil: undefined, freq: 40 }), {
      minLength: RUN,
      maxLength: RUN,
    });
    await checkRuns(fc.asyncProperty(plans, MOODS, run), RUNS);

    expect(sent).toBeGreaterThan(REQUESTS);
    const documented = document.operations.flatMap(({ id, statuses }) => statuses.map((status) => `${id} ${status}`));
    expect(documented.filter((one) => !document.seen.has(one))).toEqual([]);
  } finally {
    sender.close();
  }

  function get(target: string): Promise<ApiReply> {
    const [token] = tokens;
    return sender.send({
      method: 'GET',
      target,
      headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
      body: undefined,
    });
  }
}

/** How the store of limits and of `Idempotency-Key` answers in a run. */
type Mood = 'usual' | 'over the limit' | 'still running';

const MOODS = fc.oneof(
  { arbitrary: fc.constant<Mood>('usual'), weight: 8 },
  { arbitrary: fc.constantFrom<Mood>('over the limit', 'still running'), weight: 3 },
);

function createStore(mood: Mood): ApiStore {
  const store = createMemoryStore();
  if (mood === 'over the limit') return { ...store, count: async () => 1e6 };
  if (mood === 'still running')
    return { ...store, claim: async (_key, fingerprint) => ({ fingerprint, reply: undefined }) };
  return store;
}

/** Lists what is wrong with a response. The document does not describe other methods, unknown paths and bad URLs. */
function complainOf(request: ApiRequest, reply: ApiReply, document: ApiDocument): string[] {
  const { method, target } = request;
  if (reply.status >= 500) return ['The server failed.'];
  if (method === 'TRACE' || !isOneSpelling(target)) return complainOfEarlyRefusal(reply, document);
  if (method === 'HEAD') return reply.text === '' ? [] : ['A response to HEAD has a body.'];
  if (!document.find(method, target)) return reply.status >= 400 ? document.complainOfProblem(reply) : [];
  return [...document.complain(method, target, reply), ...complainOfChecks(request, reply, document)];
}

/** Requests for a URL with another spelling are refused or redirected before the API. */
function isOneSpelling(target: string): boolean {
  const [path = '', search = ''] = target.split('?', 2);
  const spelling = spellPath(path);
  const isText = decodePercent(search) !== undefined && !search.includes('%00');
  return 'path' in spelling && spelling.path === path && isText && target.length <= MAX_TARGET_LENGTH;
}

function complainOfEarlyRefusal(reply: ApiReply, document: ApiDocument): string[] {
  if (reply.status === 308 || reply.status === 431) return []; // redirected, or refused by Node's parser
  const isRefused = [400, 405, 414].includes(reply.status);
  return isRefused ? document.complainOfProblem(reply) : [`A request that must not reach the API got ${reply.status}.`];
}

/** The server accepts what the document describes, and nothing else. A handler can refuse what a request asks for. */
function complainOfChecks(
  { method, target, body, fault }: ApiRequest,
  { status, text }: ApiReply,
  document: ApiDocument,
): string[] {
  if (status < 300 && body) return document.complainOfBody(method, target, body.toString());
  const isRefused = [400, 413, 415].includes(status) || (status === 422 && 'errors' in JSON.parse(text));
  return fault === undefined && isRefused ? ['The request is as the document describes it, but it was refused.'] : [];
}

function toStory(requests: readonly ApiRequest[], reply: ApiReply, complaints: readonly string[]): string {
  return [
    'The response to the last of these requests is not what the document describes.',
    ...requests.map(toCurl),
    `${reply.status} ${String(reply.headers['content-type'])}`,
    reply.text.slice(0, 2000),
    ...complaints,
  ].join('\n');
}
