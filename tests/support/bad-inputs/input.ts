/** Bytes for one connection, and what may come back. */
export interface BadInput {
  /** What they are for: `page`, `tunnel`. */
  readonly door: string;
  readonly name: string;
  readonly bytes: Buffer;
  /** The most replies that they may have: more means that one request was read as several. */
  readonly most: number;
  /** The request is a HEAD, so what is announced does not come. */
  readonly isHead: boolean;
}

/** The addresses of the site that is tried. */
export interface Doors {
  readonly host: string;
  /** Pages that are rendered for each request, and one that is kept. */
  readonly page: string;
  readonly kept: string;
  /** Where a part of the path is read, up to its last slash. */
  readonly item: string;
  readonly form: string;
  /** What an action of it is called. */
  readonly action: string;
  /** Takes JSON by POST. */
  readonly api: string;
  readonly asset: string;
  /** Of the browser's SDK. */
  readonly dsn: string;
  /** An operator's, so that what stands behind it is reached. */
  readonly token: string;
}

export interface RequestParts {
  readonly method?: string;
  readonly target: string;
  readonly version?: string;
  /** Lines without their breaks; `Host` and `Content-Length` are added where none is among them. */
  readonly headers?: readonly string[];
  /** Text is written as UTF-8. */
  readonly body?: string | Buffer;
}

/** A request whose frame is sound, whatever it holds. Its connection ends with it. */
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
