import { makeOfflineTransport } from '@sentry/core';
import { type ErrorEvent, makeNodeTransport, NodeClient, Scope } from '@sentry/node';
import { COLLECT_NOTHING } from '../../../shared/reporting/collect-nothing.ts';
import { Second } from '../../../shared/units.ts';
import type { Failure, Reporter } from '../../errors/failure.ts';
import type { Count } from '../../request/counters.ts';
import type { Upstream } from '../report-parts.ts';
import { type SentryEventOptions, toSentryEvent } from './sentry-event.ts';

type ClientOptions = ConstructorParameters<typeof NodeClient>[0];
type Transport = NonNullable<ReturnType<ClientOptions['transport']>>;
type Envelope = Parameters<Transport['send']>[0];

/** The project of an error-reporting service. */
export interface Dsn {
  readonly publicKey: string;
  /** The DSN as the SDKs write it, without a secret key. */
  readonly text: string;
}

interface SentryOptions extends SentryEventOptions {
  readonly dsn: Dsn;
  readonly count: Count;
}

/** Sentry as a receiver of failures, and of what browsers report. */
export type Sentry = ReturnType<typeof createSentry>;

/** Envelopes that wait while the service cannot be reached (a count). */
const MAX_WAITING_ENVELOPES = 200;
const SENTRY_CLOSE_TIME = 2 * Second;

/**
 * Passes failures and envelopes to Sentry's SDK. The client is isolated: it is not the SDK's current client, handles no
 * signals or process errors, and receives nothing from other code that uses the same SDK. It has no integrations.
 */
export function createSentry(options: SentryOptions) {
  const { dsn, count } = options;
  /** The event that `report()` is sending. Everything within it is synchronous. */
  let sending: ErrorEvent | undefined;

  const client = new NodeClient({
    dsn: dsn.text,
    transport: (transportOptions) =>
      makeOfflineTransport(makeNodeTransport)({
        ...transportOptions,
        createStore: () => createWaitingList(count),
        recordDroppedEvent: (reason) => count('spillway_sentry_dropped_total', { reason }),
      }),
    beforeSend(event) {
      if (sending) return withOwnFields(event, sending);
      count('spillway_reports_ignored_total', { reason: 'no-failure' });
      return null;
    },
    dataCollection: COLLECT_NOTHING, // the failure has everything that is allowed
    integrations: [],
    stackParser: () => [],
    normalizeDepth: 0,
    attachStacktrace: false,
    sendClientReports: false,
    includeServerName: false,
    enableRuntimeChannelInjection: false,
    traceLifecycle: 'static',
  });

  function report(failure: Failure): void {
    sending = toSentryEvent(failure, options);
    try {
      // A copy, because the SDK modifies the event.
      client.captureEvent(structuredClone(sending), { event_id: failure.id }, toScope(failure));
    } finally {
      sending = undefined;
    }
  }

  const reporter: Reporter = { report };

  return {
    reporter,
    upstream: {
      dsn: dsn.text,
      environment: options.environment,
      report,
      send(header, transaction) {
        const envelope = [
          { dsn: dsn.text, ...header },
          [[{ type: 'transaction' }, transaction]],
        ] as unknown as Envelope;
        client
          .getTransport()
          ?.send(envelope)
          .then(undefined, () => undefined); // the transport counts what it drops
      },
    } satisfies Upstream,
    /** Waits up to two seconds until everything is sent. */
    async close(): Promise<void> {
      await client.close(SENTRY_CLOSE_TIME);
    },
  };
}

/** The envelopes that wait for the next attempt. Beyond the limit, new ones are dropped. */
function createWaitingList(count: Count) {
  const waiting: Envelope[] = [];
  return {
    async push(envelope: Envelope) {
      if (waiting.length < MAX_WAITING_ENVELOPES) waiting.push(envelope);
      else count('spillway_sentry_dropped_total', { reason: 'queue_overflow' });
    },
    async unshift(envelope: Envelope) {
      waiting.unshift(envelope);
    },
    shift: async () => waiting.shift(),
  };
}

/** Removes everything that scopes and processors added, because it was not scrubbed. */
function withOwnFields(event: ErrorEvent, own: ErrorEvent): ErrorEvent {
  // For the header of the envelope. It has only names of the trace, the release and the project.
  const { dynamicSamplingContext } = event.sdkProcessingMetadata ?? {};
  return {
    ...own,
    ...(event.sdk && { sdk: event.sdk }),
    ...(own.contexts?.trace && { sdkProcessingMetadata: { dynamicSamplingContext } }),
  };
}

/** Returns a scope with the failure's trace, so that the envelope and the event name the same one. */
function toScope({ traceId }: Failure): Scope {
  const scope = new Scope();
  if (traceId !== undefined) scope.setPropagationContext({ traceId, sampleRand: 0 });
  return scope;
}
