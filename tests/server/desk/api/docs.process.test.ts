import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startServer } from '../../../support/e2e-server.ts';

const run = promisify(execFile);
const TOKEN = 'a-token-of-sixteen-characters';
const docs = readFileSync(fileURLToPath(new URL('../../../../docs/desk.md', import.meta.url)), 'utf8');

const hasCurl = await run('curl', ['--version']).then(
  () => true,
  () => false,
);

/** Sends a browser's report as a small envelope. @returns the digest of its incident */
async function fail(url: string): Promise<string> {
  const id = 'f'.repeat(32);
  const event = {
    event_id: id,
    platform: 'javascript',
    exception: { values: [{ type: 'Error', value: 'boom' }] },
    request: { url },
  };
  const header = { event_id: id, dsn: url.replace('://', '://spillway@').concat('/1') };
  const body = [header, { type: 'event' }, event].map((part) => JSON.stringify(part)).join('\n');
  const reply = await fetch(`${url}/_report`, { method: 'POST', body });
  const { digest } = (await reply.json()) as { digest: string };
  return digest;
}

describe('the examples in docs/desk.md', () => {
  it.skipIf(!hasCurl)('work as documented against a real server', async () => {
    const server = await startServer({ OPERATOR_TOKEN: TOKEN });
    onTestFinished(() => server.stop());
    const folder = mkdtempSync(join(tmpdir(), 'spillway-docs-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const DIGEST = await fail(server.url);
    const [, script = ''] = /^## Use it from a program\n.*?^```sh\n(.*?)^```$/ms.exec(docs) ?? [];
    const env = { ...process.env, DESK: server.url, TOKEN, DIGEST };
    // Puts each answer on a separate line.
    const spaced = script.replace(/^(?:ask|curl) .*$/gm, (line) => `${line}; echo`);
    const { stdout } = await run('sh', ['-euc', spaced], { cwd: folder, env });
    const answers = stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
    expect(answers).toMatchObject([
      { openapi: expect.stringMatching(/^3\.1/) },
      { incidents: [{ digest: DIGEST }], totals: { open: 1 } },
      { digest: DIGEST },
      { digest: DIGEST, latest: { side: 'browser' } },
      { file: `tests/product/failures/${DIGEST}.test.ts` },
      { incident: { status: { state: 'ignored', ignoredUntilMore: 10 }, assignee: 'ada' } },
      { by: 'operator', text: 'The migration did not run on this replica.' },
      { incident: { status: { state: 'resolved', isForNext: true } } },
      { type: 'end', incidents: 1, occurrences: 1 },
    ]);
    expect(server.log()).not.toContain(TOKEN);
  });
});
