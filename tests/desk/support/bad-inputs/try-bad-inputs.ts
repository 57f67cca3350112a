import { connect } from 'node:net';
import { requiredHeaders } from '../../../support/required-headers.ts';
import type { BadInput } from './list-bad-inputs.ts';

export interface TryOptions {
  readonly port: number;
  /** Values that no response may contain: secrets, folders. */
  readonly secrets: readonly string[];
  /** How long a response may take to end (ms). */
  readonly patience: number;
}

/** Sends each input on its own connection. @returns how many replies came, and the rules that they broke */
export async function tryBadInputs(inputs: readonly BadInput[], options: TryOptions) {
  const faults: string[] = [];
  let replies = 0;
  const queue = inputs.values();
  async function work(): Promise<void> {
    for (const input of queue) {
      const { bytes, fault } = await exchange(input.bytes, options);
      const split = splitReplies(bytes, input.bytes.subarray(0, 5).toString('latin1') === 'HEAD ');
      replies += split.replies.length;
      const wrong = [fault, split.fault, ...judge(input, split.replies, options)].filter(Boolean);
      for (const words of wrong) faults.push(`${input.door}: ${words}: ${JSON.stringify(input.name)}`);
    }
  }
  await Promise.all(Array.from({ length: 8 }, work));
  return { replies, faults };
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

function exchange(
  bytes: Buffer,
  { port, patience }: TryOptions,
): Promise<{ bytes: Buffer; fault: string | undefined }> {
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
      resolve({ bytes: Buffer.concat(chunks), fault });
    });
  });
}

interface SplitReply {
  readonly status: number;
  /** By lowercase name. If a header is repeated, the last one wins. */
  readonly headers: Readonly<Record<string, string>>;
  /** As Latin-1, including the blank line at its end. */
  readonly head: string;
  readonly body: string;
}

/** Splits the bytes of a connection into responses as RFC 9112 says. An incomplete response is a fault. */
function splitReplies(bytes: Buffer, isHead: boolean): { replies: SplitReply[]; fault?: string } {
  const replies: SplitReply[] = [];
  let rest = bytes.toString('latin1');
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n') + 4;
    const status = Number(/^HTTP\/1\.1 (\d{3})(?: |\r)/.exec(rest)?.[1] ?? Number.NaN);
    if (end < 4 || Number.isNaN(status))
      return { replies, fault: `expected a response, got: ${JSON.stringify(rest.slice(0, 60))}` };
    const head = rest.slice(0, end);
    const headers = Object.fromEntries(
      head
        .split('\r\n')
        .slice(1, -2)
        .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const hasBody = status >= 200 && status !== 204 && status !== 304 && !isHead;
    rest = rest.slice(end);
    const body = hasBody ? takeBody(rest, headers) : { text: '', length: 0 };
    if (body === undefined) return { replies, fault: `incomplete response with status ${status}` };
    replies.push({ status, headers, head, body: body.text });
    rest = rest.slice(body.length);
  }
  return { replies };
}

function takeBody(rest: string, headers: SplitReply['headers']): { text: string; length: number } | undefined {
  if (headers['transfer-encoding'] !== 'chunked') {
    const length = Number(headers['content-length'] ?? rest.length);
    return length <= rest.length ? { text: rest.slice(0, length), length } : undefined;
  }
  let text = '';
  for (let at = 0; ; ) {
    const line = /^([0-9a-f]+)\r\n/i.exec(rest.slice(at, at + 20));
    const size = Number.parseInt(line?.[1] ?? '', 16);
    const from = at + (line?.[0].length ?? 0);
    if (rest.slice(from + size, from + size + 2) !== '\r\n') return undefined;
    text += rest.slice(from, from + size);
    at = from + size + 2;
    if (size === 0) return { text, length: at };
  }
}
