import { type ErrorEvent, NodeClient, type NodeOptions, Scope } from '@sentry/node';
import type { Failure, Reporter } from '../engine/errors/failure.ts';
import type { Count } from '../engine/monitoring/count.ts';
import type { Dsn } from './dsn.ts';
import type { Outbox } from './outbox.ts';
import { type SentryEvent, type SentryEventOptions, toSentryEvent } from './sentry-event.ts';

type ClientOptions = ConstructorParameters<typeof NodeClient>[0];
type Transport = NonNullable<ReturnType<ClientOptions['transport']>>;
type Envelope = Parameters<Transport['send']>[0];

export interface SentryReporterOptions extends SentryEventOptions {
  readonly dsn: Dsn;
  readonly outbox: Outbox;
  readonly count: Count;
}

/** Nothing is gathered by the SDK itself: what may be known of a request is in the failure. */
const NOTHING: NonNullable<NodeOptions['dataCollection']> = {
  userInfo: false,
  cookies: false,
  httpHeaders: { request: false, response: false },
  httpBodies: [],
  urlQueryParams: false,
  graphQL: { document: false, variables: false },
  genAI: { inputs: false, outputs: false },
  mcp: { inputs: false, outputs: false },
  databaseQueryData: false,
  queues: false,
  stackFrameVariables: false,
  frameContextLines: 0,
};

/**
 * Hands failures to Sentry's SDK, which makes envelopes of them for the outbox. All of it happens
 * within `report()`, up to the `write`: so there are no integrations, which may wait for files, and
 * nothing is lost when the process ends right after.
 *
 * The client stands alone. It is not made the SDK's current one, takes no signals and no errors of
 * the process, and what else runs on the same SDK does not reach it.
 */
export function createSentryReporter(options: SentryReporterOptions): Reporter {
  /** What `report()` is sending: within it everything is synchronous. */
  let sending: SentryEvent | undefined;
  let isKept = false;

  const client = new NodeClient({
    dsn: options.dsn.text,
    transport: () =>
      createTransport((envelope) => {
        isKept = options.outbox.add(envelope, 'error');
      }),
    beforeSend(event) {
      if (sending) return withOwnFields(event, sending);
      options.count('spillway_reports_ignored_total', { reason: 'no-failure' });
      return null;
    },
    dataCollection: NOTHING,
    integrations: [],
    stackParser: () => [],
    normalizeDepth: 0,
    attachStacktrace: false,
    sendClientReports: false,
    includeServerName: false,
    enableRuntimeChannelInjection: false,
    traceLifecycle: 'static',
  });

  return {
    report(failure) {
      isKept = false;
      sending = toSentryEvent(failure, options);
      try {
        // The SDK adds to what it is given: the copy is its own.
        client.captureEvent(structuredClone(sending) as ErrorEvent, { event_id: failure.id }, toScope(failure));
      } finally {
        sending = undefined;
      }
      return isKept;
    },
  };
}

/** Whatever was added on the way, by scopes and processors, was never scrubbed. */
function withOwnFields(event: ErrorEvent, own: SentryEvent): ErrorEvent {
  // What stands in the header of the envelope: names of the trace, the release and the project alone.
  const { dynamicSamplingContext } = event.sdkProcessingMetadata ?? {};
  return {
    ...(own as ErrorEvent),
    type: undefined,
    ...(event.sdk && { sdk: event.sdk }),
    ...(own.contexts.trace && { sdkProcessingMetadata: { dynamicSamplingContext } }),
  };
}

/** Of this failure's trace, so that the envelope names the same one as the event. */
function toScope({ traceId }: Failure): Scope {
  const scope = new Scope();
  if (traceId !== undefined) scope.setPropagationContext({ traceId, sampleRand: 0 });
  return scope;
}

function createTransport(keep: (envelope: Uint8Array) => void): Transport {
  return {
    send(envelope) {
      keep(toBytes(envelope));
      return Promise.resolve({});
    },
    flush: () => Promise.resolve(true),
  };
}

/** Lines of JSON: the header of the envelope, then for each item its header and its payload. */
function toBytes([header, items]: Envelope): Uint8Array {
  const lines = items.flatMap(([itemHeader, payload]) => {
    const text = JSON.stringify(payload);
    return [JSON.stringify({ ...itemHeader, length: Buffer.byteLength(text) }), text];
  });
  return Buffer.from([JSON.stringify(header), ...lines].join('\n'));
}
