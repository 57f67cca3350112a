import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { describeStatus } from '../errors/http-error.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

/**
 * Writes a whole reply to a bare socket and lets it go, whether or not the peer closes its side.
 *
 * @param extraHeaders whole lines, each with its line break
 */
export function endWith(socket: Socket, status: number, extraHeaders = ''): void {
  const body = `${describeStatus(status)}\n`;
  const security = SECURITY_HEADERS.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nCache-Control: no-store\r\n${extraHeaders}${security}\r\n${body}`,
  );
  socket.destroySoon();
}
