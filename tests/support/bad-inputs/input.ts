/** Bytes for one connection, and the responses that are acceptable. */
export interface BadInput {
  /** The part of the site that they are sent to: `page`, `tunnel`. */
  readonly door: string;
  readonly name: string;
  readonly bytes: Buffer;
  /** The maximum number of responses. More means that one request was read as several. */
  readonly most: number;
  /** The request is a HEAD, so the response has no body. */
  readonly isHead: boolean;
}

/** Addresses of the site under test. */
export interface Doors {
  readonly host: string;
  /** A page that is rendered for each request, and one that is cached. */
  readonly page: string;
  readonly kept: string;
  /** A page whose last path segment is a parameter, up to its last slash. */
  readonly item: string;
  readonly form: string;
  /** The name of an action of the form. */
  readonly action: string;
  /** Accepts JSON by POST. */
  readonly api: string;
  readonly asset: string;
  /** The DSN of the browser's SDK. */
  readonly dsn: string;
  /** An operator's token, to reach what is behind the sign-in. */
  readonly token: string;
}

export interface RequestParts {
  readonly method?: string;
  readonly target: string;
  readonly version?: string;
  /** Header lines without line breaks. `Host` and `Content-Length` are added if they are missing. */
  readonly headers?: readonly string[];
  /** Strings are sent as UTF-8. */
  readonly body?: string | Buffer;
}

/** Builds a correctly framed request with any content. The server closes its connection after the response. */
export function toRequest(
  doors: Doors,
  { method = 'GET', target, version = '1.1', headers = [], body }: RequestParts,
): Buffer {
  const has = (name: string) => headers.some((line) => line.toLowerCase().startsWith(`${name}:`));
  const bytes = body === undefined ? undefined : Buffer.from(body as string);
  const framed = has('content-length') || has('transfer-encoding');
  const lines = [
    `${method} ${target} HTTP/${version}`,
    ...(has('host') ? [] : [`Host: ${doors.host}`]),
    ...headers,
    ...(bytes && !framed ? [`Content-Length: ${bytes.length}`] : []),
    ...(has('connection') ? [] : ['Connection: close']),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'utf8'), bytes ?? Buffer.alloc(0)]);
}

export function toInput(door: string, name: string, bytes: string | Buffer, most = 1): BadInput {
  const raw = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
  return { door, name: name.slice(0, 80), bytes: raw, most, isHead: raw.subarray(0, 5).toString('latin1') === 'HEAD ' };
}
