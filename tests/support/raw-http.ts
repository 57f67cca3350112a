import { connect } from 'node:net';

export interface RawReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface RawOptions {
  /** How long the server can stay silent before the connection is closed (ms). */
  readonly patience?: number;
  /** Half-closes the connection after sending. */
  readonly half?: boolean;
}

/** Sends raw bytes, and resolves with everything received until the server closes the connection or is silent. */
export function sendRaw(
  port: number,
  bytes: string | Buffer,
  { patience = 400, half = false }: RawOptions = {},
): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
      if (half) socket.end();
    });
    socket.setTimeout(patience, () => socket.destroy());
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
  });
}

/** Sends one request on its own connection. */
export async function askRaw(
  port: number,
  requestLine: string,
  headers: readonly string[] = ['Host: localhost'],
  body = '',
): Promise<RawReply> {
  const head = [requestLine, ...headers, 'Connection: close'].join('\r\n');
  return parseReply(await sendRaw(port, `${head}\r\n\r\n${body}`, { patience: 3000 }));
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
