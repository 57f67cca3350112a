import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { type EnvelopeItem, parseEnvelope } from '../../src/server/reports/tunnel/envelope.ts';
import type { ReportOutbox } from '../../src/server/reports/tunnel/report-outbox.ts';
import type { Received } from './tunnel-site.ts';

export interface Upstream {
  readonly dsn: string;
  readonly outbox: ReportOutbox;
  /** In the order in which they were sent. */
  readonly bodies: Buffer[];
  close(): void;
}

/** Starts a local stand-in for an error-reporting service, and a queue that sends to it sequentially. */
export async function startUpstream(): Promise<Upstream> {
  const bodies: Buffer[] = [];
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    bodies.push(Buffer.concat(chunks));
    res.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  let last: Promise<unknown> = Promise.resolve();
  return {
    dsn: `http://abc123@${host}/7`,
    bodies,
    outbox: {
      add(envelope, _category, headers) {
        const body = new Uint8Array(envelope);
        last = last.then(() =>
          fetch(`http://${host}/api/7/envelope/`, { method: 'POST', body, headers: { ...headers } }),
        );
        return true;
      },
      limits: () => undefined,
    },
    close: () => server.close(),
  };
}

/** Lists the types of all items. */
export function listTypes(bodies: readonly Buffer[]): string[] {
  return [...new Set(bodies.flatMap((body) => parseEnvelope(body).items.map(({ type }) => type)))].sort();
}

/** Decompresses a body that an SDK sent. */
export function toSent({ bytes, coding }: Received): Buffer {
  return coding === 'gzip' ? gunzipSync(bytes) : bytes;
}

const REWRITTEN = new Set(['event', 'feedback', 'user_report']);

/** Expects that every sent envelope has arrived, in any order, and no others. */
export function expectAllSame(arrived: readonly Buffer[], sent: readonly Buffer[]): void {
  const left = [...sent];
  for (const body of arrived) {
    const index = left.findIndex((other) => other.equals(body) || isSameEvent(other, body));
    expect(index, `an envelope that was not sent: ${body.toString('latin1', 0, 300)}`).toBeGreaterThanOrEqual(0);
    for (const other of left.splice(index, 1)) expectSame(body, other);
  }
  expect(left.map((body) => body.toString('latin1', 0, 300))).toEqual([]);
}

function isSameEvent(one: Buffer, other: Buffer): boolean {
  const [here, there] = [parseEnvelope(one), parseEnvelope(other)];
  const types = (items: readonly EnvelopeItem[]) => items.map(({ type }) => type).join();
  return here.headers.event_id === there.headers.event_id && types(here.items) === types(there.items);
}

/** Expects equal bytes, except for events and feedback: only their content, tags and lengths must be equal. */
function expectSame(arrived: Buffer, sent: Buffer): void {
  const [there, here] = [parseEnvelope(arrived), parseEnvelope(sent)];
  if (!here.items.some(({ type }) => REWRITTEN.has(type))) {
    expect(arrived.equals(sent)).toBe(true);
    return;
  }
  expect(there.headers.event_id).toBe(here.headers.event_id);
  expect(there.items.map(({ type }) => type)).toEqual(here.items.map(({ type }) => type));
  for (const [index, item] of here.items.entries()) {
    const other = there.items[index] as EnvelopeItem; // the lists of types are equal
    if (REWRITTEN.has(item.type)) expectSameContent(other, item);
    else expect(Buffer.from(other.payload).equals(item.payload)).toBe(true);
  }
}

function expectSameContent(arrived: EnvelopeItem, sent: EnvelopeItem): void {
  expect(arrived.headers.length).toBe(arrived.payload.length);
  const [there, here] = [json(arrived), json(sent)];
  const { digest: _digest, incident: _incident, ...tags } = there.tags ?? {};
  expect(tags).toEqual(toTexts(here.tags));
  for (const key of [
    'event_id',
    'timestamp',
    'platform',
    'message',
    'exception',
    'breadcrumbs',
    'extra',
    'user',
    'sdk',
    'debug_meta',
    'comments',
    'email',
    'name',
  ]) {
    expect([key, there[key]]).toEqual([key, withoutSource(here[key])]);
  }
  expect(there.contexts?.trace).toEqual(here.contexts?.trace);
  expect(there.contexts?.feedback).toEqual(here.contexts?.feedback && expect.objectContaining(here.contexts.feedback));
}

function toTexts(tags: object = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(tags).map(([key, value]) => [key, String(value)]));
}

/** Removes lines of source and variables, which the server does not forward. */
function withoutSource(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSource);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !/^(?:context_line|pre_context|post_context|vars)$/.test(key));
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutSource(inner)]));
}

// biome-ignore lint/suspicious/noExplicitAny: any JSON that the SDK sends
function json({ payload }: EnvelopeItem): any {
  return JSON.parse(Buffer.from(payload).toString());
}
