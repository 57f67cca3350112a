import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { type E2eServer, startServer } from '../../support/e2e-server.ts';
import { createFolder } from '../../support/folder.ts';
import { sendReport } from '../support/send-report.ts';

// What docs/desk.md and docs/operating.md say about a running server.

const TOKEN = '0123456789abcdef';
const OPERATOR_TOKEN = `ada:${TOKEN},grace:fedcba9876543210`;
const readDocs = (page: string) => readFileSync(new URL(`../../../docs/${page}.md`, import.meta.url), 'utf8');

let server: E2eServer;
beforeAll(async () => {
  server = await startServer({ OPERATOR_TOKEN });
  return () => server.stop();
});

async function scrape({ url }: E2eServer): Promise<string> {
  return (await fetch(`${url}/metrics`, { headers: { Authorization: `Bearer ${TOKEN}` } })).text();
}

it('has each metric of the alerts from the start: without a series, they never fire', async () => {
  const [alerts = ''] = /^groups:\n.*?(?=^```)/ms.exec(readDocs('operating')) ?? [];
  const used = [...alerts.matchAll(/(spillway_\w+)(?:\{(\w+="\w+")\})?/g)];
  expect(used.length).toBeGreaterThan(5);
  const metrics = await scrape(server);
  for (const [found, name, label = ''] of used) {
    expect(metrics, found).toMatch(new RegExp(`^${name}(?:\\{.*${label}.*\\})? \\d`, 'm'));
  }
});

it('shows a journal that cannot be written', async () => {
  // Nothing has failed there, because a file that is open stays writable.
  const other = await startServer({ OPERATOR_TOKEN });
  onTestFinished(() => other.stop());
  const journal = join(other.dataDir, 'journal');
  rmSync(journal, { recursive: true });
  writeFileSync(journal, 'in the way');
  expect(await scrape(other)).toContain('spillway_journal_failing 0');
  expect((await sendReport(other.url)).status).toBe(503);
  expect(await scrape(other)).toContain('spillway_journal_failing 1');
  rmSync(journal);
  await expect.poll(async () => (await sendReport(other.url)).status).toBe(200);
});

it('prints no link if tokens and PUBLIC_ORIGINS are set, and warns if links in notifications would have no host', async () => {
  const env = { OPERATOR_TOKEN, PUBLIC_ORIGINS: 'https://example.com', HOST: '0.0.0.0', DESK_PORT: '0' };
  const other = await startServer({ ...env, WEBHOOK_URL: 'https://hooks.example' });
  onTestFinished(() => other.stop());
  await expect.poll(other.log).toContain('Set DESK_ORIGIN');
  await expect.poll(other.log).toMatch(/Also listening on http:\/\/[^"\s]+\/desk/);
  await other.stop();
  expect(other.log()).not.toContain('ticket=');
});

it.skipIf(spawnSync('curl', ['--version']).status !== 0)('runs the examples for programs', async () => {
  const boom = { exception: { values: [{ type: 'Error', value: 'boom' }] } };
  const { digest: DIGEST } = await sendReport(server.url, boom);
  const [, script = ''] = /^## Use it from a program\n.*?^```sh\n(.*?)^```$/ms.exec(readDocs('desk')) ?? [];
  const env = { ...process.env, DESK: server.url, TOKEN, DIGEST };
  // Puts each answer on a separate line.
  const spaced = script.replace(/^(?:ask|curl) .*$/gm, (line) => `${line}; echo`);
  const { stdout } = await promisify(execFile)('sh', ['-euc', spaced], { cwd: createFolder(onTestFinished), env });
  expect(stdout).toContain(`# ${DIGEST}\n\n\`\`\`\nError: boom\n`);
  const answers = stdout.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
  expect(answers).toMatchObject([
    { openapi: expect.stringMatching(/^3\.1/) },
    // On a busy machine, a blocked event loop is another one.
    { incidents: expect.arrayContaining([expect.objectContaining({ digest: DIGEST })]) },
    { digest: DIGEST, shown: { side: 'browser' } },
    { incident: { status: { state: 'ignored', ignoredUntilMore: 10 } } },
  ]);
  expect(server.log()).not.toContain(TOKEN);
});
