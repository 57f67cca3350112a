import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DevApp, PATIENCE, startDevApp } from '../../e2e/development/dev-app.ts';
import { exchanged } from '../../e2e/site.ts';
import { shareBrowser } from '../../support/browser.ts';

const SIGN_IN = 'src/desk/shared/pages/root/sign-in-form.tsx';

const TOKEN = 'an-operator-token-of-development';
const FAILING = {
  // A plugin that puts lines before a module.
  'src/server/product/build.mjs': `import { readFile } from 'node:fs/promises';
import { transform } from 'esbuild';

const banner = 'export const added = [\\n  1,\\n];\\n';

export default {
  plugins: [
    {
      name: 'with-a-map',
      setup({ onLoad }) {
        onLoad({ filter: /button\\.tsx$/ }, async ({ path }) => {
          const options = { loader: 'tsx', jsx: 'preserve', banner, sourcemap: 'inline', sourcefile: path };
          const { code } = await transform(await readFile(path, 'utf8'), options);
          return { contents: code, loader: 'jsx' };
        });
      },
    },
  ],
};
`,
  'src/server/product/pages/index.ts': `import { words } from '../words.ts';

function findOrder(): never {
  throw new Error('The order is lost.');
}

export const pages = {
  root: null,
  home: { loader: ({ url }: { url: URL }) => (url.searchParams.has('fail') ? findOrder() : { words }) },
  other: null,
};
`,
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
  'src/shared/product/ui/button.tsx': `export function Button() {
  function pay() {
    throw new TypeError('The payment failed.');
  }
  return (
    <button type="button" onClick={pay}>
      Pay
    </button>
  );
}
`,
};

let app: DevApp;
beforeAll(async () => {
  app = await startDevApp(FAILING, { HOST: 'localhost', OPERATOR_TOKEN: TOKEN });
});
afterAll(() => app?.stop());

async function read(path: string) {
  const reply = await fetch(`${app.url}/api/desk${path}`, { headers: { authorization: `Bearer ${TOKEN}` } });
  return reply.json();
}

/** Returns the incident with this title, as soon as the desk has it. */
async function readIncident(title: string) {
  const find = async () => {
    const { incidents } = await read('/incidents');
    return incidents.find((incident: { title: string }) => incident.title === title);
  };
  await expect.poll(find, { timeout: PATIENCE }).toBeDefined();
  return read(`/incidents/${(await find()).digest}`);
}

async function open(path: string) {
  const browser = await shareBrowser();
  const page = await browser.newPage({ baseURL: app.url, userAgent: 'Mozilla/5.0 Chrome/150.0.0.0' });
  page.setDefaultTimeout(PATIENCE);
  await page.goto(path);
  return { page };
}

test('an incident shows the source of a loader and of a browser module, in its own environment', async () => {
  expect((await fetch(`${app.url}/?fail`)).status).toBe(500);
  const thrown = await readIncident('Error: The order is lost.');
  expect(thrown).toMatchObject({
    environment: 'development',
    place: { file: 'src/server/product/pages/index.ts', function: 'findOrder', line: 4 },
  });
  expect(thrown.shown.full.errors[0].frames[0]).toMatchObject({
    file: 'src/server/product/pages/index.ts',
    line: 4,
    isOwn: true,
    source: { lines: expect.arrayContaining(["  throw new Error('The order is lost.');"]) },
  });

  const { page } = await open('/');
  await exchanged(page);
  await page.getByRole('button', { name: 'Pay' }).click();
  const clicked = await readIncident('TypeError: The payment failed.');
  expect(clicked.place).toMatchObject({ file: 'src/shared/product/ui/button.tsx', function: 'Button.pay', line: 3 });
  expect(clicked.shown.full.errors[0].frames[0]).toMatchObject({
    file: 'src/shared/product/ui/button.tsx',
    line: 3,
    isOwn: true,
    source: { lines: expect.arrayContaining(["    throw new TypeError('The payment failed.');"]) },
  });
  await page.close();
});

test('an incident of a time zone names the texts that differ, and their component', async () => {
  const { page } = await open('/other');
  await exchanged(page);
  const differing = await readIncident(
    "Error: Hydration failed because the server rendered text didn't match the client. As a result this tree will be regenerated on the client. This can happen if a SSR-ed Client Component used:",
  );
  expect(differing.place).toMatchObject({ file: 'src/shared/product/pages/other.tsx', function: 'Clock', line: 1 });
  expect(differing.shown.full.story.said).toMatch(
    /<Clock label="Opens at">\n +<p>\n +<time>\n\+ +10:30 AM\n- +8:30 AM$/,
  );
  await page.close();
});

test('the desk is served, and its pages are reloaded when one of its files changes', async () => {
  const { page } = await open('/desk');
  const heading = (text: string) => page.getByRole('heading', { level: 1, name: text, exact: true });
  await heading('Sign in to the desk').waitFor();
  await exchanged(page);
  app.edit(SIGN_IN, '<h1>Sign in to the desk</h1>', '<h1>Come in</h1>');
  await heading('Come in').waitFor();
  expect(page.url()).toBe(`${app.url}/desk`);
  await page.close();
});
