import { connect } from 'node:net';
import { REQUIRED_HEADERS } from '../required-headers.ts';
import type { BadInput } from './input.ts';
import { type SplitReply, splitReplies } from './split-replies.ts';

export interface TryOptions {
  readonly port: number;
  /** What must stand in no reply: secrets, folders. */
  readonly secrets: readonly string[];
  /** Connections at once. */
  readonly concurrency?: number;
  /** How long the end of an answer may take (ms). */
  readonly patience?: number;
}

/** What became of all of them. */
export interface Tried {
  readonly sent: number;
  readonly replies: number;
  /** How often each status was answered; `none` where the connection was closed without a word. */
  readonly statuses: Readonly<Record<string, number>>;
  /** What was wrong, each with the input that brought it about. */
  readonly faults: readonly string[];
}

/** Sends each input on a connection of its own, and holds what comes back against what must hold for every reply. */
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
    for (const name of REQUIRED_HEADERS) if (!(name in headers)) yield `no ${name} on ${status}`;
    if ('x-injected' in headers) yield 'a header of theirs in our reply';
    const { location } = headers;
    if (location !== undefined && !/^\/(?![/\\])[\x21-\x7e]*$/.test(location)) yield `a Location of ${location}`;
    const found = secrets.find((secret) => (head + body).includes(secret));
    if (found !== undefined) yield `a secret in the reply: ${found}`;
    if (/\n\s+at .+:\d+:\d+/.test(body)) yield 'a stack in the reply';
    const isPage = headers['content-type']?.startsWith('text/html');
    if (isPage && /<script>alert|<img src=x|<svg\/onload|<base href/.test(body)) yield 'markup of theirs in our page';
    if (headers['content-type']?.includes('problem+json') && !isJson(body)) yield 'a problem that is no JSON';
  }
}

function isJson(text: string): boolean {
  try {
    return text === '' || typeof JSON.parse(text) === 'object'; // empty: the head alone was asked for
  } catch {
    return false;
  }
}

/** How long nothing has to come before our side ends (ms). */
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
    // What is cut short would be waited for. Node takes the end of our side for somebody who left, so not before.
    socket.setTimeout(QUIET, () => socket.end());
    socket.on('connect', () => socket.write(bytes));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // What is too large is answered, and then cut while it is still being sent.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') fault = error.code ?? error.message;
    });
    socket.on('close', () => {
      clearTimeout(timer);
      resolve({ bytes: Buffer.concat(chunks), ...(fault !== undefined && { fault }) });
    });
  });
}
