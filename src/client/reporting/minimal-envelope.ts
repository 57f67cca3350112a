import { type BrowserReport, type BrowserReporting, REPORT_TAGS } from '../../shared/reporting/browser-report.ts';
import { readProperty } from '../../shared/reporting/read-property.ts';

interface EnvelopeSource {
  readonly settings: BrowserReporting;
  /** The page's host, for the DSN if no upstream is configured. */
  readonly host: string;
  /** 32 hexadecimal digits. */
  readonly eventId: string;
}

/**
 * Makes a Sentry envelope of one report (https://develop.sentry.dev/sdk/data-model/envelopes/), for when the SDK is not
 * there: its chunk did not load, or the page is left before it has.
 */
export function toMinimalEnvelope(report: BrowserReport, { settings, host, eventId }: EnvelopeSource): string {
  const { thrown, kind, echo, route, componentStack, said } = report;
  const stack = readProperty(thrown, 'stack') ?? report.location ?? '';
  const event = {
    event_id: eventId,
    timestamp: report.at / 1000,
    platform: 'javascript',
    level: report.level ?? 'error',
    release: settings.release,
    environment: settings.environment,
    transaction: route,
    request: { url: report.url },
    tags: { ...report.tags, [REPORT_TAGS.build]: settings.build, [REPORT_TAGS.kind]: kind, [REPORT_TAGS.echo]: echo },
    contexts: componentStack || said ? { react: { componentStack, said } } : undefined,
    exception: {
      values: [
        {
          type: toText(readProperty(thrown, 'name') ?? 'NonError'),
          value: toText(readProperty(thrown, 'message') ?? thrown),
          mechanism: { type: report.via, handled: report.via === 'report' },
          stacktrace: { frames: toFrames(toText(stack)) },
        },
      ],
    },
  };
  const header = { event_id: eventId, dsn: settings.dsn ?? `https://spillway@${host}/1` };
  return [header, { type: 'event' }, event].map((part) => JSON.stringify(part)).join('\n');
}

/** Parses function, file, line and column, outermost first. An upstream's own parser would find more. */
function toFrames(stack: string) {
  // V8 has the function before brackets, the others before an `@`.
  const lines = stack.matchAll(/(?:^ *at (?:async )?(?:(.*) \()?|^(.*)@|^)(https?:\S+?):(\d+):(\d+)/gm);
  return [...lines]
    .map(([, inV8, elsewhere, filename, line, column]) => ({
      filename,
      function: inV8 || elsewhere || '?',
      lineno: Number(line),
      colno: Number(column),
    }))
    .reverse();
}

function toText(value: unknown): string {
  try {
    return String(value);
  } catch {
    return 'something that cannot be read';
  }
}
