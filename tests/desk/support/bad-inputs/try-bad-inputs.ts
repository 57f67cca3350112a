import { connect } from 'node:net';
import { parseReply, type RawReply } from '../../../support/raw-http.ts';
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

function* judge(input: BadInput, replies: readonly RawReply[], { secrets }: TryOptions): Generator<string> {
  const last = replies.filter(({ status }) => status >= 200);
  if (last.length > input.most) yield `${last.length} replies`;
  for (const { status, headers, body } of last) {
    if (status >= 500) yield `status ${status}`;
    for (const name of requiredHeaders(String(input.bytes))) if (!(name in headers)) yield `no ${name} on ${status}`;
    if ('x-injected' in headers) yield 'an injected header in the response';
    const { location } = headers;
    if (location !== undefined && !/^\/(?![/\\])[\x21-\x7e]*$/.test(location)) yield `a Location of ${location}`;
    const found = secrets.find((secret) => (JSON.stringify(headers) + body).includes(secret));
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

/** Splits the bytes of a connection into responses, which end where the next one begins. A cut one is a fault. */
function splitReplies(bytes: Buffer, isHead: boolean): { replies: RawReply[]; fault: string | undefined } {
  const texts = bytes.toString('latin1').split(/(?=HTTP\/1\.1 \d{3}[ \r])/);
  const replies = texts.filter((text) => text !== '').map(parseReply);
  const cut = replies.find((reply) => !isWhole(reply, isHead));
  return { replies, fault: cut && `incomplete response with status ${cut.status}` };
}

/** Whether the body is as long as the head says (RFC 9112). */
function isWhole({ status, headers, body }: RawReply, isHead: boolean): boolean {
  if (!(status >= 100)) return false;
  if (isHead || status < 200 || status === 204 || status === 304) return body === '';
  if (headers['transfer-encoding'] === 'chunked') return /(?:^|\r\n)0\r\n\r\n$/.test(body);
  return body.length === Number(headers['content-length'] ?? body.length);
}
