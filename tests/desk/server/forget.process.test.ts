import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Desk } from '../../../src/desk/server/desk.ts';
import { createVisitors } from '../../../src/desk/server/ingest/visitors.ts';
import { openPostgres } from '../../../src/desk/server/store/postgres.ts';
import { openMadeSqlite } from '../../../src/desk/server/store/sqlite.ts';
import type { Failure } from '../../../src/server/errors/failure.ts';
import { toAddress } from '../../../src/shared/reporting/address.ts';
import { findCanaries, type Leftover, readFolder, readTables, toCanary } from '../support/canaries.ts';
import { createFailure } from '../support/desk.ts';
import { DATABASES, type Env, runDesk, sqliteEnv } from '../support/terminal.ts';
import { useDesk } from '../support/use-desk.ts';

const SHARED = '7K3QM2XA';
const LONELY = '0000000A';
const EARLIER = '0000000B';

/** Every field of a failure that a visitor can influence. */
const FIELDS = [
  ...['title', 'message', 'cause', 'stack-file', 'stack-function', 'component', 'site-detail'],
  ...['url', 'user-agent', 'referer', 'breadcrumb', 'crumb-data', 'tag-name', 'tag', 'extra', 'request-id'],
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
  return { visitor, words, failureOf };
}

const ada = createPerson('ada', 'adaadaadaadaada0');
const grace = createPerson('grace', 'gracegracegrace0');

const openDesk = async ({ DATA_DIR, DESK_DATABASE_URL }: Env) =>
  (await useDesk({ dataDir: DATA_DIR, databaseUrl: DESK_DATABASE_URL })).desk;

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
  await desk.calls.flush();
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

/** Lists the segments of journals. */
const listJournals = (env: Env) => readFolder(env.DATA_DIR ?? '').filter(({ name }) => name.endsWith('.ndjson'));

const listNames = (words: Readonly<Record<string, string>>, leftovers: readonly Leftover[]) =>
  Object.keys(words).filter((name) => findCanaries({ [name]: words[name] ?? '' }, leftovers).length > 0);

/** Entries look like `desk_incidents.search: ada-url`. */
const listPlaces = (words: Readonly<Record<string, string>>, leftovers: readonly Leftover[]) => [
  ...new Set(findCanaries(words, leftovers).map((found) => found.split(' …')[0])),
];

describe.each(DATABASES)('a forgotten visitor, on %s', (_name, makeEnv) => {
  it('is removed from every column, file and packed byte, and other visitors are not', async () => {
    const env = await makeEnv();
    const desk = await openDesk(env);
    const { first, beside } = await leaveBehind(desk);
    // What is stored leaves the journal within seconds.
    await expect.poll(() => desk.waitingBytes + listJournals(env).length).toBe(0);
    const before = await readAll(env);
    expect(listNames(ada.words, before)).toEqual(Object.keys(ada.words));
    const others = listNames(grace.words, before);

    expect(await runDesk(['forget', ada.visitor], env)).toMatchObject({ code: 0, err: expect.any(String) });
    const after = await readAll(env);
    expect(listPlaces(ada.words, after)).toEqual([]);
    expect(listNames(grace.words, after)).toEqual(others);
    expect((await desk.calls.find(toAddress(beside)))?.occurrence?.full).toMatchObject({ tags: beside.tags });
    expect((await desk.calls.find(toAddress(first)))?.incident.counts).toEqual({ server: 32, browser: 0 });
    const lonely = async () => (await desk.calls.find(LONELY))?.incident;
    expect(await lonely()).toMatchObject({ counts: { browser: 1 }, visitors: 0, title: 'exception', message: '' });
    desk.journal(grace.failureOf({ digest: LONELY, side: 'browser' }));
    await expect.poll(lonely).toMatchObject({ title: `Error: ${grace.words['grace-title']}` });
  });
});

it('a visitor is forgotten by an address of a failure, an IP address or an own id', async () => {
  const env = await sqliteEnv();
  const desk = await openDesk(env);
  const visitors = createVisitors({ readSalts: desk.calls.readSalts });
  await visitors.refresh();
  // A process that started while the store was away, or had a failure before it could read the salts.
  const early = createVisitors({ readSalts: desk.calls.readSalts });
  const fail = (visitor?: string) => {
    const { visitor: _ada, ...nobody } = ada.failureOf({ digest: SHARED });
    const failure = visitor === undefined ? nobody : { ...nobody, visitor };
    desk.journal(failure);
    return failure;
  };
  const ip = '2001:db8::7';
  const seen = [
    fail(visitors.toVisitor({ address: ip, id: undefined })),
    fail(visitors.toVisitor({ address: ip, id: 'customer 42' })),
    fail(early.toVisitor({ address: '192.0.2.9', id: undefined })),
    fail(early.toVisitor({ address: ip, id: 'customer 43' })),
    fail('other'),
    fail(),
  ];
  await early.refresh();
  await desk.calls.flush();
  const texts = [ip, 'customer 42', '192.0.2.9', 'customer 43', ...seen.slice(4).map((failure) => toAddress(failure))];
  for (const [index, text] of texts.entries()) {
    expect((await runDesk(['forget', text], env)).err).toContain('Deleted 1 failure ');
    const { occurrences } = await desk.calls.listOccurrences(`${SHARED}@production`, { limit: 9 });
    expect(occurrences).toHaveLength(seen.length - index - 1);
  }
  const journal = join(env.DATA_DIR ?? '', 'journal', 'dead');
  mkdirSync(journal, { recursive: true });
  writeFileSync(join(journal, '00000001.ndjson'), '{}\n');
  const { err } = await runDesk(['forget', ip], env);
  expect(err).toMatch(/^Failures that wait in a journal are not deleted\./);
});
