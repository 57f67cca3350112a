import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { startProxy } from './proxy.ts';

interface Exception {
  readonly type?: string;
  readonly value?: string;
  readonly mechanism?: { readonly type?: string; readonly handled?: boolean };
  readonly stacktrace?: { readonly frames: readonly { readonly filename?: string; readonly lineno?: number }[] };
}

/** The parts of an event that tests read. */
export interface RecordedEvent {
  readonly event_id: string;
  readonly timestamp: number;
  readonly transaction?: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly exception: { readonly values: readonly Exception[] };
  readonly contexts?: {
    readonly react?: Readonly<Record<string, string>>;
    readonly trace?: Readonly<Record<string, string>>;
  };
  readonly request?: { readonly url?: string };
  readonly breadcrumbs?: readonly { readonly category?: string; readonly message?: string; readonly data?: object }[];
  /** The first line of its envelope. */
  readonly header: Readonly<Record<string, unknown>>;
}

export interface Recorder {
  /** Origin, without a trailing slash. */
  readonly url: string;
  /** In the order of arrival. */
  readonly events: RecordedEvent[];
  /** The last headers of forwarded requests, by path and search. */
  readonly headers: Map<string, IncomingMessage['headers']>;
  stop(): Promise<void>;
}

/** The digest in its responses to reports. */
export const DIGEST = '7K3QM2XA';

/** Starts a proxy in front of an app that keeps reports to `/_report` instead of the tunnel, and forwards the rest. */
export async function startRecorder(app: string): Promise<Recorder> {
  const events: RecordedEvent[] = [];
  const headers = new Map<string, IncomingMessage['headers']>();
  async function record(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const event = parseEnvelope(await text(req));
    if (event) events.push(event);
    res.setHeader('Content-Type', 'application/json');
    res.end(JSON.stringify({ id: event?.event_id, digest: DIGEST }));
  }
  const { port, stop } = await startProxy(app, {
    intercept(req, res) {
      const isReport = req.method === 'POST' && req.url === '/_report';
      if (isReport) void record(req, res);
      else headers.set(req.url ?? '', req.headers);
      return isReport;
    },
  });
  return { url: `http://127.0.0.1:${port}`, events, headers, stop };
}

/** The event of an envelope with one item; undefined if it is something else, such as a client report. */
function parseEnvelope(raw: string): RecordedEvent | undefined {
  const [header = '', item = '', payload = '', ...rest] = raw.split('\n');
  if ((JSON.parse(item) as { type: string }).type !== 'event') return undefined;
  if (rest.some((line) => line !== '')) throw new Error(`There is more than one item in: ${raw}`);
  return { ...(JSON.parse(payload) as RecordedEvent), header: JSON.parse(header) as RecordedEvent['header'] };
}
