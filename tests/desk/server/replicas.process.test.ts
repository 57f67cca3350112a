import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { toAddress } from '../../../src/shared/reporting/address.ts';
import { type E2eServer, startServer } from '../../support/e2e-server.ts';
import { createFolder } from '../../support/folder.ts';
import { createPostgresDatabase, startPostgres, stopPostgres } from '../../support/postgres.ts';
import { createFailure } from '../support/desk.ts';
import { sendReport } from '../support/send-report.ts';
import { useDesk } from '../support/use-desk.ts';

const project = fileURLToPath(new URL('../../..', import.meta.url));
const OPERATOR_TOKEN = 'a-token-of-sixteen-characters';
const PATIENCE = { timeout: 30_000, interval: 100 };

describe('two replicas on one PostgreSQL', () => {
  it('share failures and sessions, and keep serving while it is stopped', async () => {
    const DESK_DATABASE_URL = await createPostgresDatabase();
    const settings = { DESK_DATABASE_URL, OPERATOR_TOKEN };
    const [one, two] = await Promise.all([startServer(settings), startServer(settings)]);
    for (const site of [one, two]) {
      onTestFinished(() => site.stop());
      await expect.poll(() => storeOf(site), PATIENCE).toBe('reachable');
    }

    const body = new URLSearchParams({ _action: 'root.signIn', token: OPERATOR_TOKEN });
    const signedIn = await fetch(`${one.url}/desk`, { method: 'POST', body, redirect: 'manual' });
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect((await open(two, '/desk', cookie)).status).toBe(200);

    const digest = await report(one);
    expect(await report(two)).toBe(digest);
    // Each ingests the other's records a moment later.
    await expect
      .poll(async () => (await open(two, `/desk/${digest}`, cookie)).text, PATIENCE)
      .toMatch(/2 (?:times|occurrences)/);

    await stopPostgres();
    const apart = await report(one, 'while it is away');
    for (const site of [one, two]) {
      expect((await open(site, '/', '')).status).toBe(200);
      await expect.poll(() => storeOf(site), PATIENCE).toBe('away');
      expect((await fetch(`${site.url}/readyz`)).status).toBe(200);
    }
    await new Promise((resolve) => setTimeout(resolve, 1000)); // in which they try to connect several times
    await startPostgres();
    await expect.poll(async () => (await open(two, `/desk/${apart}`, cookie)).status, PATIENCE).toBe(200);
    for (const { log } of [one, two]) {
      await expect.poll(() => log().match(/store is back/g)?.length, PATIENCE).toBe(1);
      expect(log().match(/store cannot be used/g)).toHaveLength(1);
      expect(log()).not.toMatch(/"level":60|ended unexpectedly/);
    }
  }, 120_000);
});

describe('a release and its predecessor on one PostgreSQL', () => {
  it('work side by side if the new one only adds to the schema, and the old one still works afterwards', async () => {
    const databaseUrl = await createPostgresDatabase();
    const workerFile = laterRelease(`{ version: 99, statements: () => [
      "ALTER TABLE desk_incidents ADD COLUMN owner TEXT NOT NULL DEFAULT 'nobody'",
      'CREATE TABLE desk_owners (name TEXT PRIMARY KEY)' ] }`);
    const before = await openRelease({ databaseUrl, release: 'v1' });
    await before.desk.calls.readChanges();
    const after = await openRelease({ databaseUrl, release: 'v2', workerFile });
    await after.desk.calls.readChanges();
    const back = await openRelease({ databaseUrl, release: 'v1' });
    const opened = [before, after, back];
    const failures = opened.map(({ desk }) => {
      const failure = createFailure();
      expect(desk.journal(failure)).toBe(true);
      return failure;
    });
    for (const { desk } of opened) {
      for (const failure of failures) {
        expect(await desk.calls.find(toAddress(failure))).toMatchObject({ state: 'stored', occurrence: { full: {} } });
      }
    }
    for (const { lines } of opened) expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
  }, 60_000);

  it('keep what the old one journals while it cannot write', async () => {
    const databaseUrl = await createPostgresDatabase();
    const later = laterRelease(`{ version: 99, oldestWriter: 99, statements: () => [] }`);
    const dataDir = createFolder(onTestFinished);
    const after = await openRelease({ databaseUrl, release: 'v2', workerFile: later });
    await after.desk.calls.readChanges();
    await after.desk.close();

    const before = await openRelease({ databaseUrl, release: 'v1', dataDir });
    const failure = createFailure();
    expect(before.desk.journal(failure)).toBe(true);
    await expect(before.desk.calls.find(toAddress(failure))).rejects.toThrow();
    expect(before.lines).toMatchObject([
      { level: 'error', fields: { err: { message: expect.stringMatching(/newer release/) } } },
    ]);
    await before.desk.close();

    const again = await openRelease({ databaseUrl, release: 'v2', dataDir, workerFile: later });
    await expect
      .poll(() => again.desk.calls.find(toAddress(failure)), PATIENCE)
      .toMatchObject({ state: 'stored', incident: { counts: { server: 1 } } });
  }, 60_000);
});

async function storeOf({ url }: E2eServer): Promise<string> {
  const body = (await (await fetch(`${url}/readyz`)).json()) as { store: string };
  return body.store;
}

async function open({ url }: E2eServer, path: string, Cookie: string): Promise<{ status: number; text: string }> {
  const reply = await fetch(url + path, { headers: { Cookie } });
  return { status: reply.status, text: await reply.text() };
}

async function report({ url }: E2eServer, value = 'boom'): Promise<string> {
  const { status, digest } = await sendReport(url, { exception: { values: [{ type: 'TypeError', value }] } });
  expect(status).toBe(200);
  return digest;
}

const openRelease = (options: { databaseUrl: string; release: string; dataDir?: string; workerFile?: string }) =>
  useDesk({ build: options.release, ...options });

/** Returns the desk worker of a release with one more migration. @param migration its source */
function laterRelease(migration: string): string {
  const folder = createFolder(onTestFinished);
  for (const tree of ['src/server', 'src/shared', 'src/desk'])
    cpSync(join(project, tree), join(folder, tree), { recursive: true });
  cpSync(join(project, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'));
  const file = join(folder, 'src/desk/server/store/schema.ts');
  const text = readFileSync(file, 'utf8');
  const end = text.indexOf('\n];\n');
  expect(end).toBeGreaterThan(0);
  writeFileSync(file, `${text.slice(0, end)}\n${migration},${text.slice(end)}`);
  const entry = join(folder, 'worker.mjs');
  const hook = fileURLToPath(new URL('../../support/engine-by-name.mjs', import.meta.url));
  writeFileSync(entry, `import '${hook}';\nawait import('./src/desk/server/worker/main.ts');\n`);
  return entry;
}
