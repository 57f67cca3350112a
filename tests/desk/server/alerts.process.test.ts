import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startServer } from '../../support/e2e-server.ts';
import { sendReport } from '../support/send-report.ts';

const TOKEN = 'a-token-of-sixteen-characters';
const docs = readFileSync(new URL('../../../docs/operating.md', import.meta.url), 'utf8');

async function start() {
  const server = await startServer({ OPERATOR_TOKEN: TOKEN });
  onTestFinished(() => server.stop());
  const headers = { Authorization: `Bearer ${TOKEN}` };
  return { ...server, scrape: async () => (await fetch(`${server.url}/metrics`, { headers })).text() };
}

it('has each metric of the documented alerts from the start: without a series, they never fire', async () => {
  const { scrape } = await start();
  const [alerts = ''] = /^groups:\n.*?(?=^```)/ms.exec(docs) ?? [];
  const used = [...alerts.matchAll(/(spillway_\w+)(?:\{(\w+="\w+")\})?/g)];
  expect(used.length).toBeGreaterThan(5);
  const metrics = await scrape();
  for (const [found, name, label = ''] of used) {
    expect(metrics, found).toMatch(new RegExp(`^${name}(?:\\{.*${label}.*\\})? \\d`, 'm'));
  }
});

it('shows a journal that cannot be written', async () => {
  const { url, dataDir, scrape } = await start();
  const journal = join(dataDir, 'journal');
  rmSync(journal, { recursive: true });
  writeFileSync(journal, 'in the way');
  expect(await scrape()).toContain('spillway_journal_failing 0');
  expect((await sendReport(url)).status).toBe(503);
  expect(await scrape()).toContain('spillway_journal_failing 1');
});
