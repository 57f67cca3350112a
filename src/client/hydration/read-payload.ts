import { LEAVING_TIME } from '../../shared/shared-limits.ts';
import { createDecoder } from '../../shared/wire/decode.ts';
import type { PagePayload } from '../../shared/wire/payload.ts';
import { DEFERRED_ATTRIBUTE, PAYLOAD_ID } from '../../shared/wire/protocol.ts';

interface DocumentPayload {
  readonly payload: PagePayload;
  /** The validator of the same data under `/_data`; absent while values are still pending. */
  readonly etag: string | undefined;
}

/**
 * Reads the payload from the document. Its block precedes the script that runs this, so it is complete. Deferred values
 * are read as their blocks arrive, and rejected if the document ends without them.
 */
export function readPayload(): DocumentPayload {
  const block = document.getElementById(PAYLOAD_ID);
  if (!block)
    throw new Error(
      'The document carries no payload: it was not rendered by this server, or something on the way cut it.',
    );
  const decoder = createDecoder();
  const payload = decoder.head(block.textContent ?? '') as PagePayload; // written by the same build's server
  if (decoder.pending > 0) {
    const seen = new WeakSet<Element>();
    const readDeferred = (): void => {
      for (const script of document.querySelectorAll(`script[${DEFERRED_ATTRIBUTE}]`)) {
        if (seen.has(script) || !isWhole(script.textContent)) continue;
        seen.add(script);
        decoder.deferred(script.textContent);
      }
    };
    const observer = new MutationObserver(readDeferred);
    observer.observe(document.documentElement, { childList: true, subtree: true });
    whenParsed(() => {
      observer.disconnect();
      readDeferred();
      // A click that leaves the page ends it too, and is no failure.
      const cut = new Error('The connection ended before all of the page was there.');
      setTimeout(() => decoder.abort(cut), LEAVING_TIME);
    });
    readDeferred();
  }
  return { payload, etag: block.dataset.etag };
}

/** A block is added to the tree before its text is parsed, and the parser can pause in between. */
function isWhole(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export function whenParsed(done: () => void): void {
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', done, { once: true });
  else done();
}
