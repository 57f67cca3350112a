/** Style sheets of earlier builds. React can add one late, when it ends a render that began before an edit. */
const staleSheets = new Set<string>();
let warnedTitles = '';

/** Removes style sheets of earlier builds when they return, and warns about a second title. */
export function watchHead(): void {
  new MutationObserver(removeStaleSheets).observe(document.head, { childList: true });
  new MutationObserver(findTitles).observe(document.head, { childList: true });
  findTitles();
}

/** Inserts the new sheets before it removes the old ones, so that the page is never without styles. */
export async function exchangeSheets(
  before: Readonly<Record<string, readonly string[]>>,
  next: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  const current = new Set(Object.values(next).flat());
  const loading: Promise<void>[] = [];
  for (const [id, hrefs] of Object.entries(before)) {
    hrefs.forEach((href, index) => {
      const old = document.querySelector(`link[rel="stylesheet"][href="${href}"]`);
      const wanted = next[id]?.[index];
      if (!old || wanted === href || next[id]?.includes(href)) return;
      if (wanted === undefined || document.querySelector(`link[rel="stylesheet"][href="${wanted}"]`)) return;
      const link = old.cloneNode() as HTMLLinkElement;
      link.href = wanted;
      loading.push(
        new Promise((resolve) => {
          for (const type of ['load', 'error']) link.addEventListener(type, () => resolve());
        }),
      );
      old.after(link);
    });
  }
  await Promise.all(loading);
  for (const href of Object.values(before).flat()) staleSheets.add(href);
  for (const href of current) staleSheets.delete(href);
  removeStaleSheets();
}

function removeStaleSheets(): void {
  for (const link of document.querySelectorAll('link[rel="stylesheet"]')) {
    if (staleSheets.has(link.getAttribute('href') ?? '')) link.remove();
  }
}

/** React puts the titles of layouts and page into the head, layouts first, and browsers show the first. */
function findTitles(): void {
  const all = [...document.head.querySelectorAll('title')].map(({ text }) => `"${text}"`);
  const titles = all.join(', ');
  if (all.length < 2 || titles === warnedTitles) return;
  warnedTitles = titles;
  console.warn(`Browsers show only the first of these titles: ${titles}. Remove <title> from the page's layouts.`);
}
