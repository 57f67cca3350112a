import { connect } from 'node:net';
import { requiredHeaders } from '../required-headers.ts';
import type { BadInput } from './input.ts';
import { type SplitReply, splitReplies } from './split-replies.ts';

export interface TryOptions {
  readonly port: number;
  /** Values that no response may contain: secrets, folders. */
  readonly secrets: readonly string[];
  /** Simultaneous connections (a count). */
  readonly concurrency?: number;
  /** How long a response may take to end (ms). */
  readonly patience?: number;
}

/** The result for all inputs. */
export interface Tried {
  readonly sent: number;
  readonly replies: number;
  /** How often each status was returned. `none` counts connections that were closed without a response. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Every fault, with the name of the input that caused it. */
  readonly faults: readonly string[];
}

/** Sends each input on its own connection, and checks the rules that every response must follow. */
export async function tryBadInputs(inputs: readonly BadInput[], options: TryOptions): Promise<Tried> {
  const { concurrency = 8 } = options;
  const statuses: Record<string, number> = {};
  const faults: string[] = [];
  let replies = 0;
  let next = 0;
  const count = (status: string) => {
    statuses[status] = (statuses[status] ?? 0) + 1;
  };
  async function work(): Promise<void> {
    for (let input = inputs[next++]; input; input = inputs[next++]) {
      const { bytes, fault } = await exchange(input.bytes, options);
      const split = splitReplies(bytes, input.isHead);
      if (split.replies.length === 0) count('none');
      for (const { status } of split.replies) count(String(status));
      replies += split.replies.length;
      const wrong = [fault, split.fault, ...judge(input, split.replies, options)].filter(Boolean);
      for (const words of wrong) faults.push(`${input.door}: ${words}: ${JSON.stringify(input.name)}`);
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work));
  return { sent: inputs.length, replies, statuses, faults };
}

function* judge(input: BadInput, replies: readonly SplitReply[], { secrets }: TryOptions): Generator<string> {
  const last = replies.filter(({ status }) => status >= 200);
  if (last.length > input.most) yield `${last.length} replies`;
  for (const { status, headers, head, body } of last) {
    if (status >= 500) yield `status ${status}`;
    for (const name of requiredHeaders(String(input.bytes))) if (!(name in headers)) yield `no ${name} on ${status}`;
    if ('x-injected' in headers) yield 'an injected header in the response';
    const { location } = headers;
    if (location !== undefined && !/^\/(?![/\\])[\x21-\x7e]*$/.test(location)) yield `a Location of ${location}`;
    const found = secrets.find((secret) => (head + body).includes(secret));
    if (found !== undefined) yield `a secret in the response: ${found}`;
    if (/\n\s+at .+:\d+:\d+/.test(body)) yield 'a stack in the response';
    const isPage = headers['content-type']?.startsWith('text/html');
    if (isPage && /<script>alert|<img src=x|<svg\/onload|<base href/.test(body)) yield 'injected markup in the page';
    if (headers['content-type']?.includes('problem+json') && !isJson(body)) yield 'a problem that is not JSON';
  }
}

function isJson(text: string): boolean {
  try {
    return text === '' || typeof JSON.parse(text) === 'object'; // empty: a HEAD request
  } catch {
    return false;
  }
}

/** Closes our side after this long without data (ms). */
const QUIET = 400;

interface Exchanged {
  readonly bytes: Buffer;
  readonly fault?: string;
}

function exchange(bytes: Buffer, { port, patience = 5000 }: TryOptions): Promise<Exchanged> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let fault: string | undefined;
    const socket = connect(port, '127.0.0.1');
    const timer = setTimeout(() => {
      fault = `no end after ${patience} ms`;
      socket.destroy();
    }, patience);
    // Ends a request that the server waits for more of. Only after a pause: to Node, an early end means that we left.
    socket.setTimeout(QUIET, () => socket.end());
    socket.on('connect', () => socket.write(bytes));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // The server rejects a request that is too large while we still send it, then closes the connection.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') fault = error.code ?? error.message;
    });
    socket.on('close', () => {
      clearTimeout(timer);
      resolve({ bytes: Buffer.concat(chunks), ...(fault !== undefined && { fault }) });
    });
  });
}
