import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { REQUIRED_HEADERS } from '../required-headers.ts';
import { toInput } from './input.ts';
import { tryBadInputs } from './try-bad-inputs.ts';

const SOUND = REQUIRED_HEADERS.map((name) => `${name}: x\r\n`).join('');

/** Returns the faults found in a server that sends these bytes as its response to any request. */
async function judge(bytes: string, ask = 'GET / HTTP/1.1\r\n\r\n'): Promise<string> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    if (bytes === 'silence') socket.resume();
    else socket.end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const { faults } = await tryBadInputs([toInput('door', 'it', ask)], { port, secrets: ['hush'], patience: 500 });
  return faults.join('; ');
}

it('accepts correct responses', async () => {
  expect(await judge(`HTTP/1.1 200 OK\r\n${SOUND}Content-Length: 2\r\n\r\nab`)).toBe('');
  expect(await judge(`HTTP/1.1 200 OK\r\n${SOUND}Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n`)).toBe('');
  expect(await judge(`HTTP/1.1 200 OK\r\n${SOUND}Content-Length: 9\r\n\r\n`, 'HEAD / HTTP/1.1\r\n\r\n')).toBe('');
  expect(await judge(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 308 x\r\n${SOUND}Location: /a\r\n\r\n`)).toBe('');
  expect(await judge('')).toBe('');
});

it.each([
  ['no cache-control on 200', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'],
  ['status 500', `HTTP/1.1 500 x\r\n${SOUND}\r\n`],
  ['a secret in the response', `HTTP/1.1 200 OK\r\n${SOUND}\r\nhush`],
  ['a stack in the response', `HTTP/1.1 200 OK\r\n${SOUND}\r\nError: x\n    at f (/a/b.js:1:2)`],
  ['injected markup', `HTTP/1.1 200 OK\r\n${SOUND}Content-Type: text/html\r\n\r\n<p><script>alert(1)</script>`],
  ['a problem that is not JSON', `HTTP/1.1 400 x\r\n${SOUND}Content-Type: application/problem+json\r\n\r\n{`],
  ['an injected header', `HTTP/1.1 200 OK\r\n${SOUND}X-Injected: yes\r\n\r\n`],
  ['a Location of //evil.example', `HTTP/1.1 308 x\r\n${SOUND}Location: //evil.example\r\n\r\n`],
  ['2 replies', `HTTP/1.1 200 OK\r\n${SOUND}Content-Length: 0\r\n\r\n`.repeat(2)],
  ['incomplete response with status 200', `HTTP/1.1 200 OK\r\n${SOUND}Content-Length: 9\r\n\r\nab`],
  ['incomplete response with status 200', `HTTP/1.1 200 OK\r\n${SOUND}Transfer-Encoding: chunked\r\n\r\n9\r\nab`],
  ['expected a response', 'HTTP/1.0 200 OK\r\n\r\n'],
  ['no end after 500 ms', 'silence'],
])('finds %s', async (fault, bytes) => {
  expect(await judge(bytes)).toContain(`door: ${fault}`);
});
