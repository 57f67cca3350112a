import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { askRaw, parseReply, type RawReply } from '../../support/raw-http.ts';
import { requiredHeaders } from '../../support/required-headers.ts';
import { type BadInput, HIDDEN_PATH, listBadInputs } from '../support/list-bad-inputs.ts';
import { OPERATOR, SITE_HOST, startWholeSite } from './whole-site.tsx';

const INPUTS = listBadInputs();

/** Sends every n-th input, spread over all entry points. With `BAD_INPUTS_SHARE=1`, all of them. */
const SHARE = Number(process.env.BAD_INPUTS_SHARE ?? 6);

/** What no response may contain. */
const SECRETS = [OPERATOR, join(import.meta.dirname, '../../..')];

/** How long a response may take to end (ms). A shared machine can give this test only a tenth of its CPU time. */
const PATIENCE = 20_000;

it('bad inputs get responses with all required headers and no internal details', async () => {
  const site = await startWholeSite();
  onTestFinished(() => site.close());
  const inputs = INPUTS.filter((_, index) => index % SHARE === 0);
  const { faults, replies } = await tryAll(inputs, site.port);
  expect(faults).toEqual([]);
  expect(INPUTS.length).toBeGreaterThan(4000);
  expect(replies).toBeGreaterThan(inputs.length / 2);
  expect(site.lines.filter(({ level, path }) => Number(level) >= 50 || path === HIDDEN_PATH)).toEqual([]);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  expect((await askRaw(site.port, 'GET / HTTP/1.1', [`Host: ${SITE_HOST}`])).status).toBe(200);
}, 120_000);

/** Sends each input on its own connection. @returns how many replies came, and the rules that they broke */
async function tryAll(inputs: readonly BadInput[], port: number) {
  const faults: string[] = [];
  let replies = 0;
  const queue = inputs.values();
  async function work(): Promise<void> {
    for (const input of queue) {
      const { bytes, fault } = await exchange(input.bytes, port);
      const split = splitReplies(bytes, input.bytes.subarray(0, 5).toString('latin1') === 'HEAD ');
      replies += split.replies.length;
      const wrong = [fault, split.fault, ...judge(input, split.replies)].filter(Boolean);
      for (const words of wrong) faults.push(`${input.door}: ${words}: ${JSON.stringify(input.name)}`);
    }
  }
  await Promise.all(Array.from({ length: 8 }, work));
  return { replies, faults };
}

function* judge(input: BadInput, replies: readonly RawReply[]): Generator<string> {
  const last = replies.filter(({ status }) => status >= 200);
  if (last.length > input.most) yield `${last.length} replies`;
  for (const { status, headers, body } of last) {
    if (status >= 500) yield `status ${status}`;
    for (const name of requiredHeaders(String(input.bytes))) if (!(name in headers)) yield `no ${name} on ${status}`;
    if ('x-injected' in headers) yield 'an injected header in the response';
    const { location } = headers;
    if (location !== undefined && !/^\/(?![/\\])[\x21-\x7e]*$/.test(location)) yield `a Location of ${location}`;
    const found = SECRETS.find((secret) => (JSON.stringify(headers) + body).includes(secret));
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

function exchange(bytes: Buffer, port: number): Promise<{ bytes: Buffer; fault: string | undefined }> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let fault: string | undefined;
    const socket = connect(port, '127.0.0.1');
    const timer = setTimeout(() => {
      fault = `no end after ${PATIENCE} ms`;
      socket.destroy();
    }, PATIENCE);
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
