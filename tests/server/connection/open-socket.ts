import { connect, type NetConnectOpts } from 'node:net';
import { onTestFinished } from 'vitest';

/** Opens a connection to a server of this machine, sends `bytes`, and keeps what has happened since. */
export function openSocket(port: number, bytes = '', options: Partial<NetConnectOpts> = {}) {
  const socket = connect({ port, host: '127.0.0.1', ...options });
  const connection = {
    socket,
    text: '',
    isOpen: false,
    isEnded: false,
    isClosed: false,
    error: undefined as string | undefined,
    closed: new Promise((resolve) => socket.once('close', resolve)),
  };
  socket.setEncoding('latin1');
  socket.on('connect', () => Object.assign(connection, { isOpen: true }));
  socket.on('data', (part: string) => Object.assign(connection, { text: connection.text + part }));
  socket.on('end', () => Object.assign(connection, { isEnded: true }));
  socket.on('close', () => Object.assign(connection, { isClosed: true }));
  socket.on('error', ({ code }: NodeJS.ErrnoException) => Object.assign(connection, { error: code }));
  if (bytes !== '') socket.write(bytes);
  onTestFinished(() => void socket.destroy());
  return connection;
}

/** The statuses of the responses in a text. */
export const listStatuses = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
