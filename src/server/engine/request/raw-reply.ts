import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type HeaderList, SECURITY_HEADERS } from '../protection/security-headers.ts';

/**
 * Writes a whole reply to a bare socket and closes it, even if the peer does not close its side. The body is empty:
 * the request can be a HEAD, even if it broke before its method could be read.
 */
export function endWith(
  socket: Socket,
  status: number,
  headers: HeaderList = SECURITY_HEADERS,
  more: HeaderList = [],
): void {
  const lines = [...more, ...headers].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n` +
      `Content-Length: 0\r\nCache-Control: no-store\r\n${lines}\r\n`,
  );
  socket.destroySoon();
}
