import { MAX_VALUE_LENGTH } from '../../shared/limits.ts';
import { readTags, toHex } from './event-to-failure.ts';
import { isRecord, type JsonRecord, toList, toRecord } from './report-json.ts';
import { type KnownBuild, type ReportScrubber, toScrubbed } from './report-parts.ts';

/** Facts from the server that replace those of the sender. */
interface Believed {
  readonly id: string;
  readonly build: KnownBuild;
  readonly environment: string | undefined;
}

/** As in Sentry's SDKs. */
const MAX_SPANS = 1000;

/** Rewrites a transaction for the upstream. Only these fields are forwarded, scrubbed. */
export function rewriteTransaction(
  transaction: JsonRecord,
  { id, build, environment }: Believed,
  scrubber: ReportScrubber,
): JsonRecord {
  const { spans, contexts, tags, request, start_timestamp, timestamp } = transaction;
  const { transaction: name, transaction_info, measurements, sdk } = transaction;
  const { trace, ...others } = toRecord(contexts);
  const { url } = toRecord(request);
  return {
    ...toRecord(scrubber.value({ transaction: name, transaction_info, measurements, sdk })),
    type: 'transaction',
    event_id: id,
    platform: 'javascript',
    ...{ start_timestamp: toTime(start_timestamp), timestamp: toTime(timestamp) },
    ...{ release: build.release || undefined, dist: build.build || undefined, environment },
    tags: readTags(tags, scrubber),
    request: typeof url === 'string' ? { url: toScrubbed(scrubber.url(url), scrubber, MAX_VALUE_LENGTH) } : undefined,
    contexts: { ...toRecord(scrubber.value(others)), ...(isRecord(trace) && { trace: rewriteTrace(trace, scrubber) }) },
    spans: toList(spans)
      .filter(isRecord)
      .slice(0, MAX_SPANS)
      .map((span) => rewriteTrace(span, scrubber)),
  };
}

/** Removes the sender's release and environment from the header of an envelope, checks ids, and scrubs the rest. */
export function rewriteTraceHeader(trace: JsonRecord, scrubber: ReportScrubber): JsonRecord {
  const { trace_id: traceId, public_key: key, release: _release, environment: _environment, ...rest } = trace;
  return {
    ...toRecord(scrubber.value(rest)),
    trace_id: toHex(traceId, 32),
    public_key: typeof key === 'string' && /^\w{1,100}$/.test(key) ? key : undefined,
  };
}

/** Checks ids by their format instead of scrubbing them, because a pattern could take them for secrets. */
function rewriteTrace(trace: JsonRecord, scrubber: ReportScrubber): JsonRecord {
  const { trace_id: traceId, span_id: spanId, parent_span_id: parentId, ...rest } = trace;
  return {
    ...toRecord(scrubber.value(rest)),
    trace_id: toHex(traceId, 32),
    span_id: toHex(spanId, 16),
    parent_span_id: toHex(parentId, 16),
  };
}

function toTime(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'string' ? value : undefined;
}
