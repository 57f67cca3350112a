import type { BrowserReporting, BrowserTrace, EarlyErrors, Happening } from '../../shared/reporting/browser-report.ts';

declare global {
  interface Window {
    /** Absent if the document's first script did not run. */
    spillwayEarly?: EarlyErrors;
    /** Where libraries look for the nonce of the styles that they add, some as soon as they are evaluated. */
    __webpack_nonce__?: string;
  }
}

/** `MAX_PAGE_REPORTS`: an import would take fifty bytes of each page. */
const MAX_KEPT = 100;

/**
 * Records errors from the document's first byte on, and adds trace headers to requests of this site. It is part of
 * every document, so every visitor pays for each line of it: everything that can wait is in `reporting.ts`.
 */
export function keepEarlyErrors(settings: BrowserReporting): void {
  const kept: Happening[] = [];
  const ownFetch = fetch.bind(window);
  let trace: BrowserTrace | undefined;
  const early: EarlyErrors = {
    settings,
    kept,
    take: (happened) => void (kept[MAX_KEPT - 1] ?? kept.push(happened)),
    fetch: ownFetch,
    trace: () => (trace ??= readTrace()),
  };
  window.spillwayEarly = early;
  window.__webpack_nonce__ = (document.currentScript as HTMLScriptElement).nonce; // it is inline

  for (const type of ['error', 'unhandledrejection']) {
    // Capturing, because only the element itself gets the event when it does not load.
    addEventListener(type, (event) => early.take({ at: Date.now(), event: event as Happening['event'] }), true);
  }
  // Errors that are still here were not picked up: the page's own script did not load, or not in time.
  addEventListener('pagehide', () => {
    for (const happened of kept.splice(0)) sendBeacon(settings, happened);
  });

  window.fetch = (input, init) => {
    try {
      if (new URL(input instanceof Request ? input.url : input, document.baseURI).origin === location.origin) {
        // `fetch` does the same with its arguments: a stream, a signal and a referrer are preserved.
        input = new Request(input, init);
        init = undefined;
        const { headers } = input;
        const { traceId, spanId, sampled, baggage } = early.trace();
        headers.set('sentry-trace', `${traceId}-${spanId}${sampled && `-${sampled}`}`);
        headers.set('traceparent', `00-${traceId}-${spanId}-0${sampled || 1}`);
        headers.append('baggage', baggage);
      }
    } catch {
      // The browser's own `fetch` reports what is wrong with it.
    }
    return ownFetch(input, init);
  };
}

/** Reads the trace of the server's render, or creates one, because a cached page must not contain a visitor's trace. */
function readTrace(): BrowserTrace {
  const read = (name: string) => document.querySelector<HTMLMetaElement>(`meta[name=${name}]`)?.content;
  const [traceId, parentId, sampled = ''] = (read('sentry-trace') ?? toHex(16)).split('-') as [
    string,
    string?,
    string?,
  ];
  return { traceId, parentId, spanId: toHex(8), sampled, baggage: read('baggage') ?? `sentry-trace_id=${traceId}` };
}

function toHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return random.reduce((hex, byte) => hex + (byte + 256).toString(16).slice(1), '');
}

/** Reports only what failed. The page's own script reports more, once it is there. */
function sendBeacon(settings: BrowserReporting, { at, event: { type, target, message, reason } }: Happening): void {
  const { tagName, src } = target as HTMLScriptElement;
  // A page works without an image or a preload. A promise can be rejected with anything, also `undefined`.
  const value = message ?? reason ?? (tagName === 'SCRIPT' && src);
  if (!value && type !== 'unhandledrejection') return;
  const event_id = toHex(16);
  const parts = [
    { event_id, dsn: settings.dsn ?? `https://spillway@${location.host}/1` },
    { type: 'event' },
    {
      event_id,
      timestamp: at / 1000,
      tags: { 'spillway.build': settings.build },
      exception: { values: [{ type: tagName ? 'LoadError' : 'Error', value: String(value || reason) }] },
    },
  ];
  navigator.sendBeacon(settings.tunnel, parts.map((part) => JSON.stringify(part)).join('\n'));
}
