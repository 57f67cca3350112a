import type { Page, Request } from 'playwright-core';

/** Reports of network failures are held back for a second, and so is this one. So it arrives after all others. */
const LAST = 'Failed to fetch (the end of the test)';

/**
 * Watches the reports that a page sends. Call it before the first navigation.
 *
 * @returns a function that waits for the reports of all failures so far, and returns each as its digest and title:
 * `7K3QM2XA TypeError: …`
 */
export function watchFailures(page: Page): () => Promise<string[]> {
  const reports: Request[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && toTitle(request) !== undefined) reports.push(request);
  });

  return async function failures() {
    await page.waitForLoadState('networkidle');
    const last = page.waitForResponse((response) => toTitle(response.request())?.includes(LAST) === true);
    await page.evaluate((message) => {
      setTimeout(() => {
        throw new TypeError(message);
      });
    }, LAST);
    await last;
    const others = reports.filter((request) => !toTitle(request)?.includes(LAST));
    return Promise.all(
      others.map(async (request) => {
        const response = await request.response();
        const answer = (await response?.json()) as { digest?: string } | undefined;
        return `${answer?.digest ?? '?'} ${toTitle(request)}`;
      }),
    );
  };
}

/** @returns undefined if the request is not the report of a failure */
function toTitle(request: Request): string | undefined {
  const [, header = '', event = ''] = request.postData()?.split('\n') ?? [];
  if (!header.startsWith('{"type":"event"')) return undefined;
  const { exception } = JSON.parse(event) as { exception?: { values?: { type?: string; value?: string }[] } };
  const { type = '', value = '' } = exception?.values?.at(-1) ?? {};
  return `${type}: ${value}`;
}
