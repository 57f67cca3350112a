export interface SplitReply {
  readonly status: number;
  /** By lowercase name. If a header is repeated, the last one wins. */
  readonly headers: Readonly<Record<string, string>>;
  /** As Latin-1, including the blank line at its end. */
  readonly head: string;
  /** As Latin-1, with the chunked encoding removed. */
  readonly body: string;
}

/** Splits the bytes of a connection into responses as RFC 9112 says. An incomplete response is a fault. */
export function splitReplies(
  bytes: Buffer,
  isHead: boolean,
): { readonly replies: SplitReply[]; readonly fault?: string } {
  const replies: SplitReply[] = [];
  let rest = bytes.toString('latin1');
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})(?: |\r)/.exec(rest)?.[1] ?? Number.NaN);
    if (end < 0 || Number.isNaN(status))
      return { replies, fault: `expected a response, got: ${JSON.stringify(rest.slice(0, 60))}` };
    const lines = rest.slice(0, end).split('\r\n').slice(1);
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const head = rest.slice(0, end + 4);
    const hasBody = status >= 200 && status !== 204 && status !== 304 && !isHead;
    const body = hasBody ? takeBody(rest.slice(end + 4), headers) : { text: '', length: 0 };
    if (body === undefined) return { replies, fault: `incomplete response with status ${status}` };
    replies.push({ status, headers, head, body: body.text });
    rest = rest.slice(end + 4 + body.length);
  }
  return { replies };
}

function takeBody(
  rest: string,
  headers: Readonly<Record<string, string>>,
): { text: string; length: number } | undefined {
  if (headers['transfer-encoding'] === 'chunked') return takeChunks(rest);
  const length = headers['content-length'] === undefined ? rest.length : Number(headers['content-length']);
  return length <= rest.length ? { text: rest.slice(0, length), length } : undefined;
}

function takeChunks(rest: string): { text: string; length: number } | undefined {
  let text = '';
  let at = 0;
  for (;;) {
    const line = /^([0-9a-f]+)\r\n/i.exec(rest.slice(at, at + 20));
    if (!line?.[1]) return undefined;
    const size = Number.parseInt(line[1], 16);
    const from = at + line[0].length;
    if (rest.slice(from + size, from + size + 2) !== '\r\n') return undefined;
    text += rest.slice(from, from + size);
    at = from + size + 2;
    if (size === 0) return { text, length: at };
  }
}
