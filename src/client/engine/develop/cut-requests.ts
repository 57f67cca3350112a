import { DEV_STATE } from '../../../shared/engine/develop-protocol.ts';
import { Millisecond } from '../../../shared/units.ts';

/** How often an exchange of servers is asked whether it is over (a count), and how long between (ms). */
const LOOKS = 20;
const LOOK_AFTER = 100 * Millisecond;

/** What a proxy answers for a server that is gone. */
const BAD_GATEWAY = 502;

const { fetch } = globalThis;

/**
 * A server that is exchanged ends after a second, whatever it still has to answer. What it owed to this
 * page is asked of the next one, once, where asking changes nothing: page data that does not come would
 * end in a load of the whole page.
 */
export function repeatCutRequests(): void {
  globalThis.fetch = async function fetchAgain(input, init) {
    if (!isRepeatable(input, init)) return fetch(input, init);
    try {
      const response = await fetch(input, init);
      if (response.status !== BAD_GATEWAY) return response;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // it was called off
    }
    await untilAnswered();
    return fetch(input, init);
  };
}

function isRepeatable(input: RequestInfo | URL, init: RequestInit | undefined): boolean {
  const request = input instanceof Request ? input : undefined;
  const method = init?.method ?? request?.method ?? 'GET';
  const { origin } = new URL(request?.url ?? String(input), window.location.href);
  return origin === window.location.origin && (method === 'GET' || method === 'HEAD');
}

/**
 * Fetches a module before it is imported, which then finds it in the cache: browsers remember of a module
 * that it did not come, and do not ask for it a second time.
 */
export async function importModule(url: string): Promise<unknown> {
  await (await globalThis.fetch(url)).arrayBuffer();
  return import(url);
}

/** The next server may be on its way already. */
export async function untilAnswered(): Promise<void> {
  for (let look = 0; look < LOOKS; look++) {
    const answered = await fetch(DEV_STATE, { method: 'HEAD' }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (answered) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AFTER));
  }
}
