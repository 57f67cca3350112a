import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { launchBrowser } from '../tests/support/browser.ts';
import { root, start, TOKEN } from './servers.mjs';

// `npm run screenshots` takes the pictures in docs/images from the built server, in light and dark mode.

const server = await start({ env: { RELEASE: 'v1.4.0', TOUR_FAILURES: '1' } });
const site = `http://127.0.0.1:${server.port}`;
const failing = `${site}/tour/fail/loader`;
let digest = '';
for (let time = 0; time < 3; time += 1) digest = (await fetch(failing)).headers.get('x-error-digest').split('-')[0];
const headers = { Authorization: `Bearer ${TOKEN}` };
while (!(await fetch(`${site}/api/desk/incidents/${digest}`, { headers })).ok) await sleep(100);

const browser = await launchBrowser();
for (const colorScheme of ['light', 'dark']) {
  const page = await browser.newPage({ colorScheme });
  const take = async (url, width, height) => {
    await page.setViewportSize({ width, height });
    await page.goto(url, { waitUntil: 'networkidle' });
    return (await page.screenshot()).toString('base64');
  };
  await page.goto(`${site}/desk`);
  await page.getByLabel('Token').fill(TOKEN);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  const incident = await take(`${site}/desk/${digest}`, 1080, 660);
  await page.context().clearCookies();
  const errorPage = await take(failing, 700, 440);
  const image = (data, place) =>
    `<img style="position:absolute;border-radius:8px;box-shadow:0 6px 30px #0006;${place}" src="data:image/png;base64,${data}">`;
  const back = colorScheme === 'dark' ? '#232e34' : '#e6eaed';
  await page.setViewportSize({ width: 1240, height: 950 });
  await page.setContent(
    `<body style="background:${back}">${image(errorPage, 'left:24px;top:24px;width:700px')}${image(incident, 'left:316px;top:376px;width:900px')}`,
  );
  await page.screenshot({ path: join(root, `docs/images/digest-to-line-${colorScheme}.png`) });
}
await browser.close();
process.exit();
