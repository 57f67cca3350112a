import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import request from 'supertest';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Desk } from '../../../../src/desk/server/desk.ts';
import { toNewOccurrence } from '../../../../src/desk/server/store/ingest/batch.ts';
import { openPostgres } from '../../../../src/desk/server/store/postgres.ts';
import { openSqlite } from '../../../../src/desk/server/store/sqlite.ts';
import { LEFT_OUT } from '../../../../src/desk/server/terminal/backup.ts';
import type { Failure } from '../../../../src/server/errors/failure.ts';
import { toAddress } from '../../../../src/shared/reporting/address.ts';
import { Hour } from '../../../../src/shared/units.ts';
import { ADA } from '../../../support/people.ts';
import { createPostgresDatabase } from '../../../support/postgres.ts';
import { createTestLog } from '../../../support/test-log.ts';
import { createFailure } from '../../support/desk.ts';
import { fullOfStranger } from '../../support/desk-api.ts';
import { startDeskSite } from '../../support/desk-site.ts';
import { ingest } from '../../support/stores.ts';
import { DATABASES, type Env, postgresEnv, runDesk, sqliteEnv } from '../../support/terminal.ts';
import { useDesk } from '../../support/use-desk.ts';

const TOKEN = 'a-token-of-an-operator';
const DIGEST = '7K3QM2XA';
/** Opens a desk, as a running server has it. */
async function start(env: Env) {
  const { DATA_DIR = '', DESK_DATABASE_URL } = env;
  const { desk } = await useDesk({ dataDir: DATA_DIR, databaseUrl: DESK_DATABASE_URL });
  await desk.calls.flush();
  return { desk, run: (...args: readonly string[]) => runDesk(args, env), folder: DATA_DIR };
}

async function record({ journal, calls }: Desk, ...failures: readonly Failure[]): Promise<void> {
  for (const failure of failures) journal(failure);
  await calls.flush();
}

describe.each(DATABASES)('next to a running server, on %s', (_name, makeEnv) => {
  it('lists failures, and shows the one that a digest, an address, a request id or a trace id names', async () => {
    const env = await makeEnv();
    const { desk, run } = await start(env);
    const failure = createFailure({ traceId: '4bf92f3577b34da6a3ce929d0e0e4736' });
    await record(desk, failure, createFailure({ digest: '0000000A', title: 'load /x.js', kind: 'load' }));
    const listed = await run();
    expect(listed.out).toMatch(/^# 2 incidents \(open, production\)\n\n- \*\*\w{8}\*\* `/);
    expect(listed.out).toContain(`- **${DIGEST}** \`TypeError: boom\`\n  Open, 1 time, last just now in \`v1\``);
    expect((await run('list', '--environment', 'staging', '--search', 'boom')).out).toMatch(/^# 0 incidents/);
    expect((await run('list', '--limit', '1')).out).toMatch(/\n1 more: `--limit 2`\n$/);
    const json = JSON.parse((await run('list', '--json', '--state', 'all')).out);
    expect(json).toMatchObject({ totals: { open: 2 }, incidents: [{ counts: {} }, {}] });

    const address = toAddress(failure);
    for (const text of [DIGEST.toLowerCase(), address, failure.requestId ?? '', failure.traceId ?? '']) {
      const { code, out } = await run(text);
      expect([code, out], text).toEqual([0, expect.stringContaining(`## Occurrence ${address}\n`)]);
    }
    const shown = JSON.parse((await run(address, '--json')).out);
    expect(shown).toMatchObject({ digest: DIGEST, shown: { full: { traceId: failure.traceId } } });
    expect((await run('ZZZZZZZZ')).err).toContain('Nothing found for "ZZZZZZZZ"');
    await desk.calls.changeState(`${DIGEST}@production`, { state: 'resolved', in: 'now' }, { author: 'ada' });
    await record(desk, createFailure({ at: Date.now() + 1 }));
    expect((await run()).out).toContain('\n  Regression, 2 times');
    await desk.calls.deleteIncident(`${DIGEST}@production`, { author: 'ada' });
    expect((await run(address)).err).toMatch(/^This incident was deleted by ada at /);
  });
});

describe('a backup', () => {
  it('can be read only by its owner, and has no sign-in links and salts', async () => {
    const { desk, run, folder } = await start(await sqliteEnv());
    await record(desk, createFailure());
    await desk.calls.storeSession('a hash', Hour);
    const file = join(folder, 'backup.sqlite');
    expect([(await run('backup', file)).code, statSync(file).mode & 0o777]).toEqual([0, 0o600]);
    const copy = new DatabaseSync(file, { readOnly: true });
    const count = (table: string) => copy.prepare(`SELECT COUNT(*) AS n FROM ${table}`).get()?.n;
    expect([count('desk_occurrences'), count('desk_sessions'), count('desk_salts')]).toEqual([1, 0, 0]);
    copy.close();
    expect(await run('backup', file)).toMatchObject({ code: 1, err: expect.stringContaining('exists already') });
  });

  it('of PostgreSQL is left to its own program, without the same tables', async () => {
    const made = await runDesk(['backup', 'file'], await postgresEnv());
    expect(made).toMatchObject({ code: 1, err: expect.stringContaining('pg_dump') });
    const names = LEFT_OUT.map((table) => table.replace('desk_', '')).sort();
    const docs = readFileSync(new URL('../../../../docs/desk.md', import.meta.url), 'utf8');
    expect(docs).toContain(`--exclude-table-data='desk_(${names.join('|')})'`);
  });
});

it('prints the Markdown of the API, which has the text of visitors only as visible characters in code', async () => {
  const env = await sqliteEnv({ SENTRY_ENVIRONMENT: 'test' });
  const { log } = createTestLog();
  const site = await startDeskSite({ driver: openSqlite(join(env.DATA_DIR ?? '', 'desk.sqlite'), { log }) });
  onTestFinished(() => site.store.close());
  const markup = '```\n# evil heading\n[evil](https://evil.example) <b>evil</b> ![evil](x)\n````evil `` `evil';
  const evil = `\x1b[2J\x1b]0;t\x07\x9b31m\x90q\x9ca\rb\x08\x0e\x7f\u202e\u2066\u2028\x85\u{e0041}\ufeff\u200b${markup}`;
  const at = Date.now() - 2.5 * Hour; // its words do not change during the test
  await ingest(site.store, toNewOccurrence({ ...fullOfStranger(evil).full, at }));
  await site.store.history.addNote(`${DIGEST}@test`, evil, 'ada');
  const shown = await runDesk([DIGEST], env);
  expect(shown).toMatchObject({ code: 0, err: '' });
  expect(shown.out).not.toMatch(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/u);
  expect(shown.out).toContain('\\x1b[2J\\x1b]0;t\\x07\\x9b31m');
  expect(shown.out.split('evil').length).toBeGreaterThan(100);
  const withoutCode = shown.out
    .replaceAll(/^(`{3,})\n[\s\S]*?\n\1$/gm, '')
    .replaceAll(/(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g, '');
  expect(withoutCode).not.toMatch(/evil|`|<|\]\(/);
  const asked = request(site.app).get(`/api/desk/incidents/${DIGEST}`).set('Authorization', `Bearer ${ADA.token}`);
  expect((await asked.set('Accept', 'text/markdown')).text).toBe(shown.out);
  for (const args of [[DIGEST, '--json'], ['list', '--json'], ['list'], [evil]]) {
    const { out, err } = await runDesk(args, env);
    expect(out + err).not.toMatch(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/u);
    if (args.includes('--json')) expect(JSON.stringify(JSON.parse(out))).toContain(JSON.stringify(evil));
  }
});

describe('a sign-in link', () => {
  const site = { OPERATOR_TOKEN: TOKEN, PUBLIC_ORIGINS: 'https://shop.example,https://www.shop.example' };
  const operators = `ada:${TOKEN}-1,grace:${TOKEN}-2`;
  const once = 'Sign-in link for operator. It works once and expires after 15 minutes.\n';
  it.each<[what: string, env: Env, holder: string, out: RegExp, err: string]>([
    ['has the public origin', site, '', /^https:\/\/shop\.example\/desk\?ticket=[\w-]{43}\.[\w-]{22}\n$/, once],
    [
      'has the origin of the desk',
      { ...site, DESK_PORT: '3001', DESK_ORIGIN: 'https://desk.example' },
      ...(['', /^https:\/\/desk\.example\/desk\?ticket=/, once] as const),
    ],
    [
      'is for the named holder',
      { OPERATOR_TOKEN: operators, VIEWER_TOKEN: `tim:${TOKEN}-3` },
      ...(['tim', /\?ticket=/, 'for tim (read-only)'] as const),
    ],
    ['needs a name if there are several', { OPERATOR_TOKEN: operators }, '', /^$/, 'ada, grace.'],
    ['is not made without a token', {}, '', /^$/, "Set OPERATOR_TOKEN to the server's value"],
  ])('%s', async (_what, more, holder, out, err) => {
    const { run, folder } = await start(await sqliteEnv(more));
    const said = await run('link', ...(holder ? [holder] : []));
    expect(said.out).toMatch(out);
    expect(said.err).toContain(err);
    expect([said.code, existsSync(join(folder, 'desk-token'))]).toEqual([said.out ? 0 : 1, false]);
    expect(said.out + said.err).not.toContain(TOKEN);
  });
});

describe('a wrong call', () => {
  it.each([
    [['--bad'], 'Unknown option'],
    [['list', '--state', 'gone'], '--state must be open, resolved, ignored or all'],
    [['list', '--limit', '0'], '--limit must be a number'],
    [['lsit'], '"lsit" is neither a command nor an address.\n\nReads the desk'],
  ])('%j ends with 2 and says what is expected', async (args, words) => {
    const { run } = await start(await sqliteEnv());
    expect(await run(...args)).toMatchObject({ code: 2, out: '', err: expect.stringContaining(words) });
  });

  it.each(['SQLite', 'PostgreSQL'])('creates nothing if there is no desk yet, on %s', async (name) => {
    const env = await sqliteEnv(name === 'SQLite' ? {} : { DESK_DATABASE_URL: await createPostgresDatabase() });
    for (const args of [[], ['link'], ['forget', DIGEST]]) {
      const err = expect.stringMatching(/There is no desk in|no desk yet/);
      expect(await runDesk(args, env)).toMatchObject({ code: 1, out: '', err });
    }
    expect(readdirSync(env.DATA_DIR ?? '')).toEqual([]);
  });

  it('closes its connections if the role may not read the desk: they would keep the command running', async () => {
    const env = await postgresEnv();
    const admin = openPostgres(env.DESK_DATABASE_URL ?? '');
    onTestFinished(() => admin.close());
    await admin.run('DROP ROLE IF EXISTS stranger');
    await admin.run("CREATE ROLE stranger LOGIN PASSWORD 'stranger'");
    const strange = env.DESK_DATABASE_URL?.replace('spillway:spillway@', 'stranger:stranger@') ?? '';
    expect(await runDesk([], { ...env, DESK_DATABASE_URL: strange })).toMatchObject({
      code: 1,
      err: expect.stringContaining('permission denied'),
    });
    const left = () => admin.all("SELECT 1 FROM pg_stat_activity WHERE usename = 'stranger'");
    await expect.poll(left).toEqual([]);
  });

  it('shows no password, and changes no broken file', async () => {
    const env = await sqliteEnv();
    const { code, err } = await runDesk([], { ...env, DESK_DATABASE_URL: 'postgres://desk:hushhush@127.0.0.1:9/desk' });
    expect([code, err]).toEqual([1, expect.stringContaining('PostgreSQL cannot be used')]);
    expect(err).not.toContain('hushhush');
    const file = join(env.DATA_DIR ?? '', 'desk.sqlite');
    writeFileSync(file, 'broken');
    expect(await runDesk([], env)).toMatchObject({ code: 1, err: expect.stringContaining('cannot be used') });
    expect(readFileSync(file, 'utf8')).toBe('broken');
  });
});
