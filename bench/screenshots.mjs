import './required-node.mjs';
import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';
import { launchBrowser } from '../tests/support/browser.ts';
import { findFreePort } from '../tests/support/free-port.ts';
import { serve, TOKEN } from './served.mjs';

// `npm run screenshots` takes the screenshots in docs/images from the built server, each in light and dark mode.

const root = fileURLToPath(new URL('..', import.meta.url));
const images = join(root, 'docs/images');
const size = { width: 1240, height: 760 };
const ESCAPE = String.fromCharCode(27);
/** Failures that the desk shows, with their counts. */
const failures = { '/tour/fail/loader': 3, '/tour/fail/render': 2, '/tour/fail/late': 1, '/api/tour/fail': 4 };

const folder = mkdtempSync(join(tmpdir(), 'spillway-screenshots-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const env = { RELEASE: 'v1.4.0', TOUR_FAILURES: '1' };
const { port } = await serve({ folder, env });
const site = `http://127.0.0.1:${port}`;
const browser = await launchBrowser();
const address = await fail();
const story = await readTerminal();
const overlay = await startDevelopment();

for (const colorScheme of ['light', 'dark']) {
  const context = await browser.newContext({ colorScheme, viewport: size });
  const page = await context.newPage();
  const save = (name) => page.screenshot({ path: join(images, `${name}-${colorScheme}.png`) });
  const open = (url) => page.goto(url, { waitUntil: 'networkidle' });

  await open(site);
  await save('tour');
  await page.setViewportSize({ width: 700, height: 440 });
  await open(`${site}/tour/fail/loader`);
  const errorPage = await page.screenshot();
  await page.setViewportSize(size);
  await save('error-page');

  await open(`${site}/desk`);
  await page.getByLabel('Token').fill(TOKEN);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await open(`${site}/desk`);
  await save('desk');
  await open(`${site}/desk/${address.split('-')[0]}`);
  await save('incident');
  await page.setViewportSize({ width: 1080, height: 660 });
  const incident = await page.screenshot();
  await page.setViewportSize(size);

  await open(`${overlay.url}/tour/fail/loader`);
  await page.locator('spillway-problem').first().waitFor();
  await save('overlay');
  await page.setContent(toTerminal(story, colorScheme));
  await page.locator('pre').screenshot({ path: join(images, `terminal-${colorScheme}.png`) });
  await page.setViewportSize({ width: 1240, height: 950 });
  await page.setContent(toCollage(errorPage, incident, colorScheme));
  await save('digest-to-line');
  await context.close();
}
await browser.close();
overlay.stop();
process.exit();

/** Causes failures, and waits until the desk has stored them. @returns the address of the loader's failure */
async function fail() {
  let found = '';
  for (const [path, times] of Object.entries(failures)) {
    for (let time = 0; time < times; time++) {
      const response = await fetch(site + path);
      await response.text();
      if (path === '/tour/fail/loader') found = response.headers.get('x-error-digest');
    }
  }
  const headers = { Authorization: `Bearer ${TOKEN}` };
  for (;;) {
    const response = await fetch(`${site}/api/desk/incidents/${found.split('-')[0]}`, { headers });
    if (response.ok && (await response.json()).counts?.all !== 0) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Returns the output of `npm run desk -- <digest>`, with its colours. */
async function readTerminal() {
  const { stdout } = await promisify(execFile)(process.execPath, ['bin/desk.mjs', address.split('-')[0]], {
    cwd: root,
    env: { ...process.env, ...env, DATA_DIR: join(folder, 'data'), FORCE_COLOR: '1', COLUMNS: '100' },
  });
  return stdout;
}

/** Runs `npm run dev` in a copy, because it builds into `dist`. */
async function startDevelopment() {
  const copy = join(folder, 'dev');
  for (const path of ['bin', 'build', 'build.mjs', 'moves.json', 'package.json', 'src']) {
    cpSync(join(root, path), join(copy, path), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const child = spawn(process.execPath, ['bin/dev.mjs'], {
    cwd: copy,
    env: { ...process.env, PORT: String(await findFreePort()), DATA_DIR: join(folder, 'dev-data'), TOUR_FAILURES: '1' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const stop = () => child.kill();
  process.on('exit', stop);
  const url = await new Promise((resolve) => {
    child.stdout.on('data', (text) => {
      const found = /Listening on (http:[^\s"]+)/.exec(stripVTControlCharacters(String(text)));
      if (found) resolve(found[1]);
    });
  });
  return { url, stop };
}

/** Converts text with terminal styles to HTML. */
function toTerminal(text, colorScheme) {
  const [back, front, muted] =
    colorScheme === 'dark' ? ['#0d1418', '#e6edf0', '#8b9aa1'] : ['#fff', '#10212a', '#5c6c74'];
  const styles = {
    1: 'font-weight:700',
    2: `color:${muted}`,
    4: 'text-decoration:underline',
    31: 'color:#c9372c',
    32: 'color:#1f845a',
    33: 'color:#a06a00',
    36: 'color:#007a99',
  };
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  // Each style ends when the next one begins or when it is switched off.
  const parts = escaped.split(new RegExp(`${ESCAPE}\\[([\\d;]*)m`));
  const on = new Set();
  const html = parts.map((part, index) => {
    if (index % 2 === 0) return `<span style="${[...on].map((code) => styles[code] ?? '').join(';')}">${part}</span>`;
    for (const code of part.split(';')) {
      if (styles[code]) on.add(code);
      else if (code === '22') for (const weight of ['1', '2']) on.delete(weight);
      else if (code === '24') on.delete('4');
      else on.clear();
    }
    return '';
  });
  return `<body style="margin:0;background:${back}"><pre style="margin:0;padding:24px;color:${front};background:${back};font:14px/1.5 ui-monospace,monospace;width:fit-content">${html.join('')}</pre>`;
}

/** Combines the error page and the desk page of its digest. */
function toCollage(errorPage, incident, colorScheme) {
  const shadow = 'position:absolute;border-radius:8px;box-shadow:0 6px 30px #0006';
  const image = (bytes, place) =>
    `<img style="${shadow};${place}" src="data:image/png;base64,${bytes.toString('base64')}">`;
  const back = colorScheme === 'dark' ? '#232e34' : '#e6eaed';
  return `<body style="margin:0;background:${back}">${image(errorPage, 'left:24px;top:24px;width:700px')}${image(incident, 'left:316px;top:376px;width:900px')}`;
}
