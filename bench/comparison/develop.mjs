import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addParts, makeApp, toLoader, toPart } from './app.mjs';
import { makeFolder, readPort, run } from './sides.mjs';
import { summarize } from './statistics.mjs';

const EDITS = 10;
/** One of 300 modules. */
const PART = 150;

/**
 * The time from saving a file until its new text is in the document, in the small app with 300 more components under
 * `npm run dev`.
 */
export async function measureDevelop() {
  const { launchBrowser } = await import('../../tests/support/browser.ts');
  const folder = join(makeFolder(), 'app');
  makeApp(folder);
  addParts(folder);
  const { findFreePort } = await import('../../tests/support/free-port.ts');
  const server = run(['bin/dev.mjs'], {
    cwd: folder,
    // A server that is started again must have the same port.
    env: { NODE_ENV: 'development', HOST: '127.0.0.1', PORT: String(await findFreePort()), OVERLOAD_DELAY: '0' },
  });
  const port = await readPort(server);
  const browser = await launchBrowser();
  const page = await browser.newPage();
  await page.addInitScript(watchTexts);
  await page.goto(`http://127.0.0.1:${port}/parts`);
  await page.waitForFunction((id) => document.getElementById(id), `part-${PART}`);
  // Until React has hydrated the page, it cannot replace components.
  await page.waitForFunction((id) => {
    const button = document.querySelector(`#${id} button`);
    return button && Object.keys(button).some((key) => key.startsWith('__reactProps'));
  }, `part-${PART}`);

  const part = join(folder, `src/shared/product/pages/parts/part-${PART}.tsx`);
  const loader = join(folder, 'src/server/product/parts.ts');
  const component = [];
  const data = [];
  for (let edit = 0; edit <= EDITS; edit += 1) {
    const times = [
      await save(page, part, (text) => toPart(PART, text), `component-${edit}`),
      await save(page, loader, toLoader, `loader-${edit}`),
    ];
    if (edit === 0) continue; // It waits for things that are made once.
    component.push(times[0]);
    data.push(times[1]);
  }
  await browser.close();
  server.kill('SIGTERM');
  return {
    rows: [
      toRow('from saving a component to seen', component, { atMost: 250, next: 150 }),
      toRow('from saving a loader to seen', data, { atMost: 400, next: 250 }),
    ],
  };
}

function toRow(title, times, goal) {
  const spread = summarize(times);
  return {
    title,
    unit: 'ms',
    values: { spillway: spread.median },
    spread,
    goal: { ...goal, of: 'value' },
  };
}

async function save(page, file, toSource, text) {
  const saved = Date.now();
  writeFileSync(file, toSource(text));
  const seen = await page.waitForFunction((wanted) => window.seenAt?.[wanted], text);
  const at = await seen.jsonValue();
  await untilServed(new URL('/_dev/state', page.url()));
  return at - saved;
}

/** An edit also starts the server again. The next one waits for that, as people do. */
async function untilServed(url) {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    const state = await fetch(url).then(
      (answer) => answer.json(),
      () => undefined, // the server that stops closes its connections
    );
    if (state && state.served === state.build) return;
  }
}

/** Runs in the page: writes down when a text was first there. */
function watchTexts() {
  window.seenAt = {};
  function look() {
    for (const text of document.body?.textContent?.match(/(?:component|loader)-\d+/g) ?? []) {
      window.seenAt[text] ??= Date.now();
    }
  }
  new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true });
}
