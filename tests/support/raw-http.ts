import { connect, type NetConnectOpts } from 'node:net';
import { onTestFinished } from 'vitest';

export interface RawReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface RawOptions {
  /** How long the server can stay silent before the connection is closed (ms). By default, it is waited for first. */
  readonly patience?: number;
  /** Half-closes the connection after sending. */
  readonly half?: boolean;
}

/** Opens a connection to a server of this machine, sends `bytes`, and keeps what has happened since. */
function dial(port: number, bytes: string | Buffer, options: Partial<NetConnectOpts> = {}) {
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
  if (bytes !== '') socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  return connection;
}

/** Opens a connection until the test ends, and sends `bytes`. */
export function openSocket(port: number, bytes = '', options: Partial<NetConnectOpts> = {}) {
  const connection = dial(port, bytes, options);
  onTestFinished(() => void connection.socket.destroy());
  return connection;
}

/** Sends raw bytes, and resolves with everything received until the server closes the connection or is silent. */
export async function sendRaw(
  port: number,
  bytes: string | Buffer,
  { patience, half = false }: RawOptions = {},
): Promise<string> {
  const connection = dial(port, bytes);
  connection.socket.setTimeout(patience ?? 30_000, () => connection.socket.destroy());
  if (patience === undefined) connection.socket.once('data', () => connection.socket.setTimeout(400));
  if (half) connection.socket.end();
  await connection.closed;
  return connection.text;
}

/** Sends one request on its own connection. */
export async function askRaw(
  port: number,
  requestLine: string,
  headers: readonly string[] = ['Host: localhost'],
  body = '',
): Promise<RawReply> {
  const head = [requestLine, ...headers, 'Connection: close'].join('\r\n');
  return parseReply(await sendRaw(port, `${head}\r\n\r\n${body}`, { patience: 30_000 }));
}

/** Parses the first response in a server's output. */
export function parseReply(text: string): RawReply {
  const end = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { status: Number(statusLine.split(' ')[1] ?? 0), headers, body: text.slice(end + 4) };
}

/** The statuses of the responses in a text. */
export const listStatuses = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
