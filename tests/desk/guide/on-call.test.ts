import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { build } from '../../../build.mjs';
import { shareBrowser } from '../../support/browser.ts';
import { createOwnedApp, type OwnedApp, project, type RunningApp } from '../../support/owned-app.ts';
import { startWebhook, type WebhookReceiver } from '../../support/receivers.ts';
import { until } from '../../support/until.ts';

const PAGE = 'src/server/product/pages/home.ts';
const BROKEN = 'total: found.total';
const FIXED = 'total: found?.total ?? 0';
const TOKEN = 'a-token-of-the-operator';

// Follows docs/desk.md: notifications, the likely commit, and "From an address to a failing test".

let app: OwnedApp;
let webhook: WebhookReceiver;

beforeAll(async () => {
  webhook = await startWebhook();
  app = createOwnedApp();
  const copied = ['tests/support', 'tests/e2e/site.ts', 'vitest.config.ts', 'tsconfig.json', 'moves.json'];
  for (const path of copied) cpSync(join(project, path), join(app.folder, path), { recursive: true });
  app.write({
    '.gitignore': 'dist\nnode_modules\ndata\n',
    [PAGE]: `import { definePage } from '../context.ts';

interface Order {
  readonly total: number;
}

const orders = new Map<string, Order>();

export const home = definePage({
  async loader({ request, context }) {
    const number = new URL(request.url).searchParams.get('order') ?? '';
    const found = orders.get(number) as Order;
    if (!found) context.log.info({ number }, 'The order is in the archive.');
    return { ${BROKEN} };
  },
});
`,
    'src/shared/product/pages/home/home.tsx': `import type { PageProps } from '#engine';
import type { home } from '#product-server/pages/home.ts';

export default function Home({ data }: PageProps<typeof home>) {
  return <h1>Total: {data.total}</h1>;
}
`,
  });
  app.replace('src/server/product/pages/index.ts', 'home: null', 'home');
  app.replace('src/server/product/pages/index.ts', 'export const', "import { home } from './home.ts';\n\nexport const");
  git('init', '--quiet');
  commit('Begin');
});

afterAll(async () => {
  await webhook?.close();
  app?.remove();
});

function git(...args: readonly string[]): string {
  const who = ['-c', 'user.name=Grace Hopper', '-c', 'user.email=grace@example.com', '-c', 'commit.gpgsign=false'];
  return execFileSync('git', [...who, ...args], { cwd: app.folder, encoding: 'utf8' }).trim();
}

function commit(subject: string): string {
  git('add', '--all');
  git('commit', '--quiet', '--message', subject);
  return git('rev-parse', 'HEAD');
}

/** Starts what was built. */
function start(release: string): Promise<RunningApp> {
  return app.start({
    RELEASE: release,
    DATA_DIR: join(app.folder, 'data'),
    OPERATOR_TOKEN: TOKEN,
    WEBHOOK_URL: webhook.url,
    DESK_ORIGIN: 'https://desk.example.com',
  });
}

async function visit({ url }: RunningApp): Promise<{ status: number; address: string }> {
  const reply = await fetch(`${url}/?order=7`, {
    headers: { accept: 'text/html', 'user-agent': 'Mozilla/5.0 Firefox/150.0' },
  });
  return { status: reply.status, address: reply.headers.get('x-error-digest') ?? '' };
}

/** Lists the incidents of the page that were sent. On a busy machine, a blocked event loop is another incident. */
const listSent = () =>
  webhook.posted
    .flatMap(({ body }) => JSON.parse(body).incidents as { event: string; kind: string; link: string; title: string }[])
    .filter(({ kind }) => kind !== 'blocked-loop');

async function notified(event: string) {
  const find = () => listSent().find((sent) => sent.event === event);
  await until(() => find() !== undefined, event);
  return find() ?? expect.unreachable();
}

/** @returns exit code and output */
function runTest(file: string) {
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--project=unit', file];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: app.folder, encoding: 'utf8' });
  return [status, stripVTControlCharacters(stdout + stderr)];
}

test('a morning on call: from the notification of a regression to a test that passes with the fix', async () => {
  // The command builds what is missing.
  execFileSync(process.execPath, ['bin/desk.mjs', 'help'], { cwd: app.folder, stdio: 'ignore' });
  const first = await start('1');
  const digest = (await visit(first)).address.slice(0, 8);
  expect((await notified('new')).title).toContain('TypeError');
  const reply = await fetch(`${first.url}/api/desk/incidents/${digest}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ status: { state: 'resolved', in: 'next' } }),
  });
  expect(reply.status).toBe(200);
  await first.stop();

  // The regression.
  app.replace(PAGE, BROKEN, FIXED);
  commit('Show archived orders without a total');
  app.replace(PAGE, FIXED, BROKEN);
  const culprit = commit('Simplify the total');
  await build({ root: app.folder, log: () => undefined });
  const second = await start('2');
  const { status, address } = await visit(second);
  expect([status, address.slice(0, 8)]).toEqual([500, digest]);
  const { link } = await notified('regressed');
  expect(listSent()).toHaveLength(2);

  // The link leads to the incident. Its page names the cause and the likely commit.
  const context = await (await shareBrowser()).newContext({ baseURL: second.url });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(new URL(link).pathname);
  await page.getByLabel('Token').fill(TOKEN);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('The order is in the archive.').first().waitFor();
  const words = await page.getByText('Likely caused by').innerText();
  expect(words).toContain(`${culprit.slice(0, 9)} “Simplify the total” by Grace Hopper`);
  expect(words).toMatch(new RegExp(`${PAGE}:\\d+$`));

  // The test fails with the digest, and passes with the fix.
  const env = { ...process.env, DATA_DIR: join(app.folder, 'data') };
  const desk = ['dist/desk.mjs', address, '--test'];
  const file = execFileSync(process.execPath, desk, { cwd: app.folder, env, encoding: 'utf8' }).trim();
  expect(file).toBe(`tests/product/failures/${digest}.test.ts`);
  expect(runTest(file)).toEqual([1, expect.stringContaining(`+   "${digest} `)]);
  app.replace(PAGE, BROKEN, FIXED);
  expect(runTest(file)).toEqual([0, expect.anything()]);
}, 180_000);
