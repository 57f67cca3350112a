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

/** The SDK collects nothing. The failure has everything that is allowed. */
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
 * Passes failures to Sentry's SDK, which makes envelopes for the outbox. All of it happens synchronously within
 * `report()`, up to the `write`. There are thus no integrations, which could wait for files, and nothing is lost if the
 * process ends immediately afterwards.
 *
 * The client is isolated. It is not the SDK's current client, handles no signals or process errors, and receives
 * nothing from other code that uses the same SDK.
 */
export function createSentryReporter(options: SentryReporterOptions): Reporter {
  /** The event that `report()` is sending. Everything within it is synchronous. */
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
        // A copy, because the SDK modifies the event.
        client.captureEvent(structuredClone(sending) as ErrorEvent, { event_id: failure.id }, toScope(failure));
      } finally {
        sending = undefined;
      }
      return isKept;
    },
  };
}

/** Removes everything that scopes and processors added, because it was not scrubbed. */
function withOwnFields(event: ErrorEvent, own: SentryEvent): ErrorEvent {
  // For the header of the envelope. It has only names of the trace, the release and the project.
  const { dynamicSamplingContext } = event.sdkProcessingMetadata ?? {};
  return {
    ...(own as ErrorEvent),
    type: undefined,
    ...(event.sdk && { sdk: event.sdk }),
    ...(own.contexts.trace && { sdkProcessingMetadata: { dynamicSamplingContext } }),
  };
}

/** Returns a scope with the failure's trace, so that the envelope and the event name the same one. */
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

/** Returns lines of JSON: the header of the envelope, then the header and the payload of each item. */
function toBytes([header, items]: Envelope): Uint8Array {
  const lines = items.flatMap(([itemHeader, payload]) => {
    const text = JSON.stringify(payload);
    return [JSON.stringify({ ...itemHeader, length: Buffer.byteLength(text) }), text];
  });
  return Buffer.from([JSON.stringify(header), ...lines].join('\n'));
}
