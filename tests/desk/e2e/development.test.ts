import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DevApp, PATIENCE, startDevApp } from '../../e2e/development/dev-app.ts';
import { exchanged } from '../../e2e/site.ts';
import { shareBrowser } from '../../support/browser.ts';

const SIGN_IN = 'src/desk/shared/pages/root/sign-in-form.tsx';

const TOKEN = 'an-operator-token-of-development';
const OTHER = {
  'src/shared/product/pages/other.tsx': `function Clock({ label }: { label: string }) {
  const time = typeof document === 'undefined' ? '8:30 AM' : '10:30 AM';
  return (
    <p>
      {label} <time>{time}</time>
    </p>
  );
}

export default function Other() {
  return (
    <main>
      <Clock label="Opens at" />
    </main>
  );
}
`,
};

let app: DevApp;
beforeAll(async () => {
  app = await startDevApp(OTHER, { HOST: 'localhost', OPERATOR_TOKEN: TOKEN });
});
afterAll(() => app?.stop());

async function open(path: string) {
  const browser = await shareBrowser();
  const page = await browser.newPage({ baseURL: app.url, userAgent: 'Mozilla/5.0 Chrome/150.0.0.0' });
  page.setDefaultTimeout(PATIENCE);
  await page.goto(path);
  await exchanged(page);
  return page;
}

test('an incident of a time zone names the texts that differ, and their component', async () => {
  const page = await open('/other');
  const read = async (path: string) => {
    const reply = await fetch(`${app.url}/api/desk${path}`, { headers: { authorization: `Bearer ${TOKEN}` } });
    return reply.json();
  };
  const find = async () =>
    (await read('/incidents')).incidents.find(({ kind }: { kind: string }) => kind === 'hydration');
  await expect.poll(find, { timeout: PATIENCE }).toBeDefined();
  const said = /<Clock label="Opens at">\n +<p>\n +<time>\n\+ +10:30 AM\n- +8:30 AM$/;
  expect(await read(`/incidents/${(await find()).digest}`)).toMatchObject({
    environment: 'development',
    place: { file: 'src/shared/product/pages/other.tsx', function: 'Clock', line: 1 },
    shown: { full: { story: { said: expect.stringMatching(said) } } },
  });
  await page.close();
});

test('the desk is served, and its pages are reloaded when one of its files changes', async () => {
  const page = await open('/desk');
  const heading = (text: string) => page.getByRole('heading', { level: 1, name: text, exact: true });
  await heading('Sign in to the desk').waitFor();
  app.edit(SIGN_IN, '<h1>Sign in to the desk</h1>', '<h1>Come in</h1>');
  await heading('Come in').waitFor();
  expect(page.url()).toBe(`${app.url}/desk`);
  await page.close();
});
