import { DEV_STATE } from '../../shared/develop-protocol.ts';
import { isReadRequest } from '../../shared/fetch-with-retry.ts';
import { Millisecond } from '../../shared/units.ts';

/** The pauses between checks if an exchange of servers is over (ms). Browsers log failed checks. */
const PAUSES = [100, 200, 300, 500, 1000].map((pause) => pause * Millisecond);

/** A proxy's answer for a server that is gone. */
const BAD_GATEWAY = 502;

const { fetch } = globalThis;

/**
 * A replaced server exits after one second, even if responses are unfinished. This page then repeats its reads on the
 * next server, once, because page data that does not arrive would cause a load of the whole page. A request that the
 * content policy blocks fails with a message that says so.
 */
export function repeatCutRequests(): void {
  let blocked = '';
  addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
    if (effectiveDirective === 'connect-src') blocked = new URL(blockedURI, window.location.href).origin;
  });
  globalThis.fetch = async function fetchAgain(input, init) {
    if (!isRepeatable(input, init)) {
      return fetch(input, init).catch(async (error: unknown) => {
        await new Promise((resolve) => setTimeout(resolve)); // the event comes after the error
        if (error instanceof TypeError && blocked === toOrigin(input)) {
          error.message += `. The content policy blocks ${blocked}. If the page needs it, add it to contentSources.connect in src/server/product/index.ts.`;
        }
        throw error;
      });
    }
    try {
      const response = await fetch(input, init);
      if (response.status !== BAD_GATEWAY) return response;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // it was aborted
    }
    await untilAnswered();
    return fetch(input, init);
  };
}

function isRepeatable(input: RequestInfo | URL, init: RequestInit | undefined): boolean {
  return toOrigin(input) === window.location.origin && isReadRequest(input, init);
}

function toOrigin(input: RequestInfo | URL): string {
  return new URL(input instanceof Request ? input.url : String(input), window.location.href).origin;
}

/**
 * Fetches a module before it is imported, so that the import finds it in the cache. Browsers remember that a module
 * failed to load, and do not request it a second time.
 */
export async function importModule(url: string): Promise<unknown> {
  await (await globalThis.fetch(url)).arrayBuffer();
  return import(url);
}

/** Waits for a server to answer, because the next one can be starting already. */
async function untilAnswered(): Promise<void> {
  for (const pause of PAUSES) {
    const answered = await fetch(DEV_STATE, { method: 'HEAD' }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (answered) return;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
