import { createHash, createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Desk } from '../../../src/server/desk/desk.ts';
import { openVisitors } from '../../../src/server/desk/ingest/open-visitors.ts';
import { toKey } from '../../../src/server/desk/store/incident-key.ts';
import { openPostgres } from '../../../src/server/desk/store/postgres.ts';
import type { SqlDriver } from '../../../src/server/desk/store/sql.ts';
import { openMadeSqlite } from '../../../src/server/desk/store/sqlite.ts';
import { LEFT_OUT } from '../../../src/server/desk/terminal/backup-file.ts';
import { type Failure, toAddress } from '../../../src/server/engine/errors/failure.ts';
import { createSecret } from '../../../src/server/reports/tunnel/visitors.ts';
import { Day } from '../../../src/shared/units.ts';
import { findCanaries, type Leftover, readFolder, readTables, toCanary } from '../../support/canaries.ts';
import { createFailure, openTestDesk } from '../../support/desk.ts';
import { createFolder } from '../../support/folder.ts';
import { runDesk } from '../../support/terminal.ts';
import { usePostgres } from '../../support/use-postgres.ts';

const postgres = usePostgres();

type Env = Record<string, string>;

async function sqliteEnv(): Promise<Env> {
  return { DATA_DIR: createFolder(onTestFinished) };
}

async function postgresEnv(): Promise<Env> {
  return { DATA_DIR: createFolder(onTestFinished), DESK_DATABASE_URL: await postgres.createDatabase() };
}

const SHARED = '7K3QM2XA';
const LONELY = '0000000A';
const EARLIER = '0000000B';

/** Every field of a failure that a visitor can influence. */
const FIELDS = [
  ...['title', 'message', 'cause', 'stack-file', 'stack-function', 'component', 'site-detail'],
  ...['url', 'user-agent', 'referer', 'breadcrumb', 'crumb-data', 'tag-name', 'tag', 'extra', 'request-id'],
  ...['said', 'name', 'email', 'feedback-url'],
];

/** Creates everything that one visitor leaves behind. Each field contains a word that occurs nowhere else. */
function createPerson(person: string, visitor: string) {
  const words: Record<string, string> = Object.fromEntries(
    FIELDS.map((field) => [`${person}-${field}`, toCanary(`${person} ${field}`)]),
  );
  words[`${person}-visitor`] = visitor;
  const word = (field: string) => words[`${person}-${field}`] ?? '';
  const frames = [
    { file: `https://shop.example/${word('stack-file')}.js`, line: 1, column: 2, function: word('stack-function') },
  ];
  const failureOf = (wanted: Partial<Failure>) =>
    createFailure({
      visitor,
      title: `Error: ${word('title')}`,
      errors: [
        { class: 'Error', message: `No order of ${word('message')}`, frames },
        { class: 'Error', message: word('cause'), frames },
      ],
      location: { path: 'src/cart.ts', function: 'load', detail: word('site-detail') },
      request: {
        method: 'GET',
        url: `https://shop.example/orders/${word('url')}?q=1`,
        headers: { 'user-agent': word('user-agent'), referer: word('referer') },
      },
      requestId: word('request-id'),
      componentStack: `at ${word('component')}`,
      breadcrumbs: [{ at: 1, category: 'ui.click', message: word('breadcrumb'), data: { label: word('crumb-data') } }],
      tags: { [word('tag-name')]: 'a', customer: word('tag') },
      extra: { cart: { of: word('extra') } },
      ...wanted,
    });
  const sayOf = (address: string, id: string, by = visitor) => ({
    id: id.repeat(32),
    address,
    at: Date.now(),
    text: `I did ${word('said')}`,
    name: word('name'),
    email: `${word('email')}@example.com`,
    url: `https://shop.example/${word('feedback-url')}`,
    visitor: by,
  });
  return { visitor, words, failureOf, sayOf };
}

const ada = createPerson('ada', 'adaadaadaadaada0');
const grace = createPerson('grace', 'gracegracegrace0');

async function openDesk({ DATA_DIR = '', DESK_DATABASE_URL }: Env): Promise<Desk> {
  const desk = await openTestDesk({ dataDir: DATA_DIR, databaseUrl: DESK_DATABASE_URL });
  onTestFinished(() => desk.close());
  return desk;
}

/** Stores it through the journal and the worker, as a server does. */
async function leaveBehind(desk: Desk) {
  const first = ada.failureOf({ digest: SHARED });
  const echo = ada.failureOf({ digest: SHARED, side: 'browser', echoOf: toAddress(first) });
  const beside = grace.failureOf({ digest: SHARED });
  const failures = [
    first,
    echo,
    ada.failureOf({ digest: LONELY, side: 'browser' }),
    beside,
    // After 20 in a second, only summaries are stored.
    ...Array.from({ length: 30 }, () => ada.failureOf({ digest: SHARED })),
    grace.failureOf({ digest: EARLIER }),
    ada.failureOf({ digest: EARLIER }),
  ];
  for (const failure of failures) expect(desk.journal(failure)).toBe(true);
  expect(desk.journalFeedback(ada.sayOf(toAddress(first), 'a'))).toBe(true);
  // Feedback about the same failure from another network.
  expect(desk.journalFeedback(ada.sayOf(toAddress(echo), 'b', 'another-network0'))).toBe(true);
  expect(desk.journalFeedback(grace.sayOf(toAddress(beside), 'c'))).toBe(true);
  await desk.calls.settle();
  return { first, beside };
}

/** Reads everything that the desk has on disk and in its database. */
async function readAll({ DATA_DIR = '', DESK_DATABASE_URL }: Env): Promise<Leftover[]> {
  const path = join(DATA_DIR, 'desk.sqlite');
  const driver = DESK_DATABASE_URL === undefined ? openMadeSqlite(path) : openPostgres(DESK_DATABASE_URL);
  try {
    return [...(await readTables(driver)), ...readFolder(DATA_DIR)];
  } finally {
    await driver.close();
  }
}

const listNames = (words: Readonly<Record<string, string>>, leftovers: readonly Leftover[]) =>
  Object.keys(words).filter((name) => findCanaries({ [name]: words[name] ?? '' }, leftovers).length > 0);

/** Returns whether the visitor can be found in the sketches that count visitors. */
function isCounted(visitor: string, leftovers: readonly Leftover[]): boolean {
  const hash = createHash('sha1').update(visitor).digest().subarray(0, 4);
  return leftovers.some(({ name, bytes }) => name === 'desk_visitors.sketch' && bytes.includes(hash));
}

/** Entries look like `desk_search.text: ada-url`. */
const listPlaces = (words: Readonly<Record<string, string>>, leftovers: readonly Leftover[]) => [
  ...new Set(findCanaries(words, leftovers).map((found) => found.split(' …')[0])),
];

/** Makes a backup. On PostgreSQL it copies the tables instead of running pg_dump, except the marks and keys. */
async function backUp(env: Env): Promise<{ restore(): Promise<void> }> {
  if (env.DESK_DATABASE_URL === undefined) {
    const file = join(createFolder(onTestFinished), 'backup.sqlite');
    expect(await runDesk(['backup', file], env)).toMatchObject({ code: 0 });
    return {
      restore: async () => expect(await runDesk(['restore', file], env)).toMatchObject({ code: 0 }),
    };
  }
  const url = env.DESK_DATABASE_URL;
  const withTables = async (work: (driver: SqlDriver, table: string) => Promise<void>) => {
    const driver = openPostgres(url);
    const tables = await driver.all<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename LIKE 'desk%'",
    );
    const dumped = tables.map(({ name }) => name).filter((name) => ![...LEFT_OUT, 'desk_forgotten'].includes(name));
    for (const table of dumped) await work(driver, table);
    await driver.close();
  };
  await withTables(async (driver, table) => {
    await driver.run('CREATE SCHEMA IF NOT EXISTS dump');
    await driver.run(`CREATE TABLE dump.${table} AS SELECT * FROM ${table}`);
    // Real backups are older than a heartbeat.
    if (table === 'desk_runs') await driver.run('UPDATE dump.desk_runs SET beat_at = beat_at - 60000');
  });
  return {
    async restore() {
      await withTables(async (driver, table) => {
        await driver.run(`DELETE FROM ${table}`);
        await driver.run(`INSERT INTO ${table} SELECT * FROM dump.${table}`);
        await driver.run(`DROP TABLE dump.${table}`);
      });
      expect(await runDesk(['restore'], env)).toMatchObject({ code: 0 });
    },
  };
}

describe.each([
  ['SQLite', sqliteEnv],
  ['PostgreSQL', postgresEnv],
])('a forgotten visitor, on %s', (_name, makeEnv) => {
  it('is removed from every column, file and packed byte, and other visitors are not', async () => {
    const env = await makeEnv();
    const desk = await openDesk(env);
    const { first, beside } = await leaveBehind(desk);
    const backup = await backUp(env);
    const refused = [first, beside].map((failure) => JSON.stringify({ entry: 'full', failure }));
    writeFileSync(join(env.DATA_DIR ?? '', 'dead-letter-1.ndjson'), `${refused.join('\n')}\n`);
    const before = await readAll(env);
    expect(listNames(ada.words, before)).toEqual(Object.keys(ada.words));
    const kept = listNames(grace.words, before);

    expect(await runDesk(['forget', ada.visitor], env)).toMatchObject({ code: 0 });
    const after = await readAll(env);
    expect(listPlaces(ada.words, after)).toEqual([]);
    expect([isCounted(ada.visitor, after), isCounted(grace.visitor, after)]).toEqual([false, true]);
    expect(listNames(grace.words, after)).toEqual(kept);
    const letters = after.filter(({ name }) => name.startsWith('dead-letter'));
    expect(letters.map(({ bytes }) => bytes.toString().trim())).toEqual([refused[1]]);
    expect((await desk.calls.find(toAddress(beside)))?.occurrence?.full).toMatchObject({ tags: beside.tags });
    expect((await desk.calls.find(toAddress(first)))?.incident.counts).toEqual({ server: 32, browser: 0 });
    const lonely = async () => (await desk.calls.find(LONELY))?.incident;
    expect(await lonely()).toMatchObject({ counts: { browser: 1 }, visitors: 1, title: 'Error', message: '' });
    expect(await lonely()).toMatchObject({ site: { path: 'src/cart.ts', function: 'load', detail: '' } });
    expect((await desk.calls.listIncidents({ limit: 9, search: 'src/cart.ts' })).incidents).toHaveLength(3);
    desk.journal(grace.failureOf({ digest: LONELY, side: 'browser' }));
    await desk.calls.settle();
    expect(await lonely()).toMatchObject({ title: `Error: ${grace.words['grace-title']}` });

    await desk.close();
    await backup.restore();
    const restored = await readAll(env);
    expect(listPlaces(ada.words, restored)).toEqual([]);
    expect([isCounted(ada.visitor, restored), isCounted(grace.visitor, restored)]).toEqual([false, true]);
    expect(listNames(grace.words, restored)).toEqual(kept);
  });

  it('leaves no link between two days in the database', async () => {
    const env = await makeEnv();
    const desk = await openDesk(env);
    const failures = Array.from({ length: 30 }, () => ada.failureOf({ digest: SHARED, side: 'browser' }));
    for (const failure of failures) desk.journal(failure, ['what-she-was-called']);
    await desk.calls.settle();
    const stored = (await readAll(env)).filter(({ name }) => name.startsWith('desk'));
    expect(stored.filter(({ bytes }) => bytes.includes('what-she-was-called'))).toEqual([]);
    expect(stored.some(({ bytes }) => bytes.includes(ada.visitor))).toBe(true);
  });
});

const ADDRESS = '203.0.113.7';
const ID = 'customer 42';

describe('the forget command', () => {
  it.each([
    [
      ADDRESS,
      [/as an IP address in failures of [-\d]+( and [-\d]+)? \(UTC\)/, /earlier days cannot be found/, /as an id/],
    ],
    ['ada@example.com', [/all feedback for it as an email address/, /cannot be found by an email/, /as an id/]],
    ['kq3xYw7bVb0J2k1p', [/a visitor id that the desk shows/, /as an id/]],
    [ID, [/as an id from your visitorId/]],
    ['the address of a failure', [/this failure and all others of the same visitor on that day/]],
  ])('says what it searched for and what it cannot find: %s', async (whom, words) => {
    const env = await sqliteEnv();
    const desk = await openDesk(env);
    const failure = ada.failureOf({});
    desk.journal(failure);
    await desk.calls.readSalts([{ day: Math.floor(Date.now() / Day), salt: createSecret() }]);
    writeFileSync(join(env.DATA_DIR ?? '', 'desk.sqlite.before-restore-2026-11-20T10-00-00.000Z'), '');
    const text = whom === 'the address of a failure' ? toAddress(failure) : whom;
    const { code, err } = await runDesk(['forget', text], env);
    expect(code).toBe(0);
    for (const expected of words) expect(err).toMatch(expected);
    expect(err).toMatch(/Not changed: existing backups, .* these copies: desk\.sqlite\.before-restore-2026-11-20/);
  });

  it('finds records of an earlier release, which used one salt for all days', async () => {
    const env = await sqliteEnv();
    await (await openDesk(env)).close();
    const driver = openMadeSqlite(join(env.DATA_DIR ?? '', 'desk.sqlite'));
    await driver.run("INSERT INTO desk_meta (name, value) VALUES ('salt', 'pepper')");
    await driver.close();
    const desk = await openDesk(env);
    const days = [0, 40].map((ago) => Math.floor(Date.now() / Day) - ago);
    for (const text of [...days.map((day) => `${day} ${ADDRESS}`), `id ${ID}`]) {
      const visitor = createHmac('sha256', 'pepper').update(text).digest('base64url').slice(0, 16);
      desk.journal(ada.failureOf({ visitor }));
    }
    await desk.calls.settle();
    expect((await runDesk(['forget', ADDRESS], env)).err).toMatch(/older versions .*Deleted 2 occurrences /s);
    expect((await runDesk(['forget', ID], env)).err).toContain('Deleted 1 occurrence ');
  });
});

describe('a visitor of a process without access to the store', () => {
  const isSaltIn = ({ DATA_DIR = '' }: Env) =>
    readFolder(DATA_DIR).some(({ bytes }) => bytes.includes('"entry":"salt"'));

  /** Runs a process whose entire activity is in its journal. */
  async function failApart(env: Env) {
    const desk = await openDesk(env);
    const { toVisitor } = openVisitors(desk);
    for (const visitor of [toVisitor(ADDRESS), toVisitor('192.0.2.2'), toVisitor(ADDRESS, ID)]) {
      expect(desk.journal(ada.failureOf({ visitor }))).toBe(true);
    }
    return desk;
  }

  async function expectForgotten(desk: Desk, env: Env) {
    await expect.poll(() => desk.calls.find(SHARED).catch(() => undefined), { timeout: 30_000 }).toBeDefined();
    for (const whom of [ADDRESS, ID]) {
      expect((await runDesk(['forget', whom], env)).err).toContain('Deleted 1 occurrence ');
    }
    expect((await desk.calls.listOccurrences(toKey(SHARED, 'production'), { limit: 9 })).occurrences).toHaveLength(
      1,
    );
    // By then the salts are in the store and deleted from the disk of the process.
    expect(isSaltIn(env)).toBe(false);
  }

  it('is found if the store was not open yet', async () => {
    const env = await sqliteEnv();
    await expectForgotten(await failApart(env), env);
  });

  it('is found if PostgreSQL was unavailable when the process started', async () => {
    const env = await postgresEnv();
    await postgres.stop();
    const desk = await failApart(env);
    await expect.poll(() => desk.condition.store, { timeout: 30_000 }).toBe('away');
    expect(isSaltIn(env)).toBe(true);
    await postgres.start();
    await expectForgotten(desk, env);
  });

  it('is found if the process ended before PostgreSQL was available again', async () => {
    const env = await postgresEnv();
    await postgres.stop();
    await (await failApart(env)).close();
    await postgres.start();
    await expectForgotten(await openDesk(env), env);
  });
});
