import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { describeStatus } from '../errors/http-error.ts';
import { type HeaderList, SECURITY_HEADERS } from './security-headers.ts';

/** Writes a whole reply to a bare socket and lets it go, whether or not the peer closes its side. */
export function endWith(
  socket: Socket,
  status: number,
  headers: HeaderList = SECURITY_HEADERS,
  more: HeaderList = [],
): void {
  const body = `${describeStatus(status)}\n`;
  const lines = [...more, ...headers].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nCache-Control: no-store\r\n${lines}\r\n${body}`,
  );
  socket.destroySoon();
}
