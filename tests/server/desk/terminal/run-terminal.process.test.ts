import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Desk } from '../../../../src/server/desk/desk.ts';
import { takeLock } from '../../../../src/server/desk/file-lock.ts';
import { openVisitors } from '../../../../src/server/desk/ingest/open-visitors.ts';
import { toCallKey } from '../../../../src/server/desk/store/incident-key.ts';
import { type DeadLetterLine, toDeadLetterFile } from '../../../../src/server/desk/worker/dead-letters.ts';
import { type Failure, toAddress } from '../../../../src/server/engine/errors/failure.ts';
import { Day } from '../../../../src/shared/units.ts';
import { createFailure, openTestDesk } from '../../../support/desk.ts';
import { createFolder } from '../../../support/folder.ts';
import { withStore } from '../../../support/gallery.ts';
import { runDesk } from '../../../support/terminal.ts';
import { usePostgres } from '../../../support/use-postgres.ts';

const postgres = usePostgres();

const TOKEN = 'a-token-of-an-operator';
type Env = Record<string, string>;

async function sqliteEnv(): Promise<Env> {
  return { DATA_DIR: createFolder(onTestFinished) };
}

async function postgresEnv(): Promise<Env> {
  return {
    DATA_DIR: createFolder(onTestFinished),
    DESK_DATABASE_URL: await postgres.emptyDesk(),
    OPERATOR_TOKEN: TOKEN,
  };
}

async function emptyPostgresEnv(): Promise<Env> {
  return { ...(await postgresEnv()), DESK_DATABASE_URL: await postgres.createDatabase() };
}

/** Opens a desk, as a running server has it. */
async function openBeside({ DATA_DIR = '', DESK_DATABASE_URL }: Env): Promise<Desk> {
  const desk = await openTestDesk({ dataDir: DATA_DIR, databaseUrl: DESK_DATABASE_URL });
  onTestFinished(() => desk.close());
  await desk.flush();
  return desk;
}

/** Waits until the failures are stored. A busy machine takes longer than a question waits for them. */
async function record(desk: Desk, ...failures: readonly Failure[]): Promise<void> {
  for (const failure of failures) desk.journal(failure);
  await desk.flush();
}

const digest = '7K3QM2XA';

/** @returns the file of entries that the store refused */
function writeLetters({ DATA_DIR = '' }: Env, failures: readonly Failure[]): string {
  const file = toDeadLetterFile(DATA_DIR);
  const lines = failures.map((failure) => {
    const refused = { at: Date.now(), reason: 'refused', environment: 'production' };
    const letter: DeadLetterLine = { entry: 'whole', failure, ...refused };
    return `${JSON.stringify(letter)}\n`;
  });
  writeFileSync(file, lines.join(''));
  return file;
}

describe.each([
  ['SQLite', sqliteEnv],
  ['PostgreSQL', postgresEnv],
])('with a running server, on %s', (_name, makeEnv) => {
  it('lists failures, shows the details of one, and finds it by request id and trace id', async () => {
    const env = await makeEnv();
    const desk = await openBeside(env);
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const failure = createFailure({ digest, traceId, request: { method: 'GET', url: '/orders/7' } });
    await record(
      desk,
      failure,
      createFailure({ digest: '0000000A', side: 'browser', title: 'load /x.js', kind: 'load' }),
    );

    const listed = await runDesk([], env);
    expect({ code: listed.code, err: listed.err }).toEqual({ code: 0, err: '' });
    expect(listed.out).toMatch(/^DIGEST +LAST +TIMES +VISITORS +WHERE +WHAT\n/);
    expect(listed.out).toContain('TypeError: boom');
    expect((await runDesk(['--side', 'browser'], env)).out).not.toContain(digest);
    expect((await runDesk(['--search', 'nowhere'], env)).out).toBe('No incidents match.\n');
    const json = JSON.parse((await runDesk(['--json', '--sort', 'count'], env)).out);
    expect(json).toMatchObject({ totals: { open: 2 }, incidents: [{ counts: {} }, {}] });

    for (const text of [digest.toLowerCase(), toAddress(failure), failure.requestId ?? '', traceId]) {
      const { code, out } = await runDesk([text], env);
      expect({ text, code }).toEqual({ text, code: 0 });
      expect(out).toContain(`${digest}  Open  Exception\nTypeError: boom\n`);
      expect(out).toContain(toAddress(failure));
    }
    const story = JSON.parse((await runDesk([toAddress(failure), '--json'], env)).out);
    expect(story).toMatchObject({ digest, shown: { occurrence: failure.occurrence, whole: { traceId } } });

    const file = `tests/product/failures/${digest}.test.ts`;
    const address = toAddress(failure);
    expect((await runDesk([address, '--test'], env)).err).toContain('has no folder "tests"');
    mkdirSync(join(env.DATA_DIR ?? '', 'tests'));
    expect(await runDesk([address, '--test'], env)).toEqual({ code: 0, out: `${file}\n`, err: '' });
    expect(readFileSync(join(env.DATA_DIR ?? '', file), 'utf8')).toBe(story.shown.whole.test.text);
    expect((await runDesk([digest, '--test'], env)).err).toContain('exists already. Add --force');
    expect((await runDesk([digest, '--test', '--force'], env)).code).toBe(0);
    expect((await runDesk(['0000000A', '--test'], env)).err).toContain('A test cannot be written');

    const unknown = await runDesk(['ZZZZZZZZ'], env);
    expect(unknown).toMatchObject({ code: 1, out: '' });
    expect(unknown.err).toContain('Nothing found for "ZZZZZZZZ"');
  });

  it("changes states with the operator's name, and the server sees it", async () => {
    const env = await makeEnv();
    const desk = await openBeside(env);
    await record(desk, createFailure({ digest }));
    const before = await desk.ask('readChanges');
    expect(await runDesk(['resolve', digest, '--in', 'next', '--as', 'ada'], env)).toMatchObject({ code: 0, err: '' });
    expect((await desk.ask('find', digest))?.incident).toMatchObject({
      state: 'resolved',
      resolvedIn: 'next',
      stateBy: 'ada',
    });
    expect(await desk.ask('readChanges')).toBeGreaterThan(before);
    await runDesk(['ignore', digest, '--for', '7d'], env);
    const { ignoredUntil = 0 } = (await desk.ask('find', digest))?.incident ?? {};
    expect(Math.abs(ignoredUntil - Date.now() - 7 * Day)).toBeLessThan(60_000);
    await runDesk(['ignore', digest, '--until-more', '100'], env);
    expect((await desk.ask('find', digest))?.incident).toMatchObject({ state: 'ignored', ignoredGrowth: 100 });
    const reopened = await runDesk(['reopen', digest, '0000000Z', '--as', 'grace'], env);
    expect(reopened.out).toMatch(/^7K3QM2XA open by grace \(was ignored since just now, by /);
    expect(reopened).toMatchObject({
      code: 1,
      err: 'No incident has the digest 0000000Z in the environment production.\n',
    });
  });

  it('forgets a visitor in the store, in the ingested journal and in later records', async () => {
    const env = await makeEnv();
    const desk = await openBeside(env);
    const visitor = openVisitors(desk).toVisitor('203.0.113.7');
    const secret = createFailure({ digest, visitor, title: 'TypeError: of-the-visitor' });
    await record(desk, secret, createFailure({ digest, visitor: 'somebody-else-00' }));
    const said = { id: 'a'.repeat(32), address: digest, text: 'said-by-the-visitor', at: Date.now() };
    desk.journalFeedback({ ...said, email: 'Ada@Example.com' });
    await desk.flush();
    expect(readJournals(env)).toContain('of-the-visitor');
    const letters = writeLetters(env, [secret, createFailure({ visitor: 'somebody-else-00' })]);

    const forgot = await runDesk(['forget', '203.0.113.7'], env);
    expect({ code: forgot.code, err: forgot.err }).toEqual({
      code: 0,
      err: expect.stringMatching(
        /^Searched for it as an IP address in failures of [-\d]{10}\D.*\(UTC\)\.\n.*Deleted 1 occurrence and 0 feedback messages, .* Counts remain\.\n/s,
      ),
    });
    expect((await runDesk(['forget', 'ada@example.COM'], env)).err).toContain(
      'Deleted 0 occurrences and 1 feedback message,',
    );
    expect(readJournals(env)).not.toMatch(/of-the-visitor|said-by-the-visitor/);
    expect(readJournals(env)).toContain('somebody-else-00');
    expect(readFileSync(letters, 'utf8')).toContain('somebody-else-00');
    expect(readFileSync(letters, 'utf8')).not.toContain('of-the-visitor');
    expect((await desk.ask('find', toAddress(secret)))?.occurrence).toBeUndefined();
    expect(await desk.ask('listFeedback', toCallKey(digest, 'production'), 9)).toEqual([]);

    // Journals one failure with an earlier time, and one that arrives after the deletion.
    await record(desk, createFailure({ digest, visitor, at: Date.now() - 1000 }), createFailure({ digest }));
    expect((await desk.ask('find', digest))?.incident.counts.server).toBe(4);
    expect((await desk.ask('listOccurrences', toCallKey(digest, 'production'), { limit: 9 })).occurrences).toHaveLength(
      2,
    );
  });

  it('replays entries that the store refused before', async () => {
    const env = await makeEnv();
    const desk = await openBeside(env);
    const failure = createFailure({ digest });
    const file = writeLetters(env, [failure, createFailure({ digest: '00000002', kind: null as never })]);
    writeFileSync(file, '{"at":1,"entry"', { flag: 'a' }); // a partial line

    const replayed = await runDesk(['replay'], env);
    expect(replayed).toMatchObject({ code: 0, err: expect.stringContaining('Replaying 2 entries') });
    expect(await desk.ask('find', toAddress(failure))).toMatchObject({ incident: { counts: { server: 1 } } });
    expect((await desk.ask('listIncidents', { limit: 9 })).incidents).toHaveLength(1); // no crash is reported
    // An entry that is refused again is stored in the file again.
    expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(1);
    rmSync(file);
    expect((await runDesk(['replay'], env)).err).toContain('nothing to replay');
  });

  it('forgets by the visitor id on screen, and by an occurrence', async () => {
    const env = await makeEnv();
    const desk = await openBeside(env);
    const mine = createFailure({ digest, visitor: 'kq3xYw7bVb0J2k1p' });
    const nobodys = createFailure({ digest });
    await record(desk, mine, createFailure({ digest, visitor: 'kq3xYw7bVb0J2k1p' }), nobodys);
    expect((await runDesk(['forget', toAddress(nobodys)], env)).err).toContain('Deleted 1 occurrence ');
    expect((await runDesk(['forget', toAddress(nobodys)], env)).code).toBe(1);
    expect((await runDesk(['forget', toAddress(mine)], env)).err).toContain('Deleted 2 occurrences ');
    const again = await runDesk(['forget', 'kq3xYw7bVb0J2k1p'], env);
    expect(again).toMatchObject({
      code: 0,
      err: expect.stringContaining('Deleted 0 occurrences and 0 feedback messages'),
    });
    expect(await runDesk(['forget', ''], env)).toMatchObject({ code: 2 });
  });

  it.each(['customer 42', 'ada@example.com', 'kq3xYw7bVb0J2k1p'])(
    'forgets by the visitor id that the product set, %s',
    async (id) => {
      const env = await makeEnv();
      const desk = await openBeside(env);
      const visitor = openVisitors(desk).toVisitor('203.0.113.7', id);
      await record(desk, createFailure({ digest, visitor }));
      expect((await runDesk(['forget', id], env)).err).toContain('Deleted 1 occurrence ');
    },
  );
});

function readJournals({ DATA_DIR = '' }: Env): string {
  const folder = join(DATA_DIR, 'journal');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ndjson'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('');
}

describe('without a running server', () => {
  it.each([
    ['SQLite', sqliteEnv, 'There is no desk in '],
    ['PostgreSQL', emptyPostgresEnv, 'The database in DESK_DATABASE_URL has no desk yet'],
  ])('says what to do where there is no desk yet, on %s', async (_name, makeEnv, words) => {
    const env = await makeEnv();
    for (const args of [[], [digest], ['link']]) {
      const { code, out, err } = await runDesk(args, env);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toContain(words);
      expect(err).not.toContain('spillway:spillway@');
    }
    expect(readdirSync(env.DATA_DIR ?? '')).toEqual([]);
  });

  it('reports that PostgreSQL does not answer, without the password', async () => {
    const env = {
      DATA_DIR: createFolder(onTestFinished),
      DESK_DATABASE_URL: 'postgres://desk:hushhush@127.0.0.1:9/desk',
    };
    const { code, err } = await runDesk([], env);
    expect(code).toBe(1);
    expect(err).toMatch(/^PostgreSQL cannot be used: .*\n$/);
    expect(err).not.toContain('hushhush');
  });

  it('ignores an invalid setting that it does not need, and names one that it needs', async () => {
    const env = { ...(await sqliteEnv()), PORT: 'wrong' };
    await (await openBeside(env)).close();
    expect((await runDesk([], env)).code).toBe(0);
    const wrong = await runDesk([], { ...env, DESK_DATABASE_URL: 'mysql://hushhush@x/y' });
    expect(wrong).toMatchObject({
      code: 1,
      err: expect.stringContaining('The setting DESK_DATABASE_URL is not the URL'),
    });
    expect(wrong.err).not.toContain('hushhush');
  });

  it('shows what a killed server left in its journal, and that it was killed', async () => {
    const env = await sqliteEnv();
    const child = spawn(process.execPath, [childFile], {
      env: { ...process.env, ...env, RATE: '100' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [first] = (await once(child.stdout, 'data')) as [Buffer];
    child.kill('SIGKILL');
    await once(child, 'exit');
    const address = first.toString().slice(0, 17);
    const shown = await runDesk([address], env);
    expect(shown).toMatchObject({ code: 0, out: expect.stringContaining(address) });
    expect((await runDesk(['--kind', 'unclean-death'], env)).out).toContain('Process died');
    expect(readdirSync(join(env.DATA_DIR ?? '', 'journal'))).toEqual([]);
    // The next start has nothing left to do.
    const desk = await openBeside(env);
    const { incidents } = await desk.ask('listIncidents', { limit: 9 });
    expect(incidents.find(({ kind }) => kind === 'unclean-death')?.counts.server).toBe(1);
  });

  it('leaves the notification about the crash to the next server, even if another process ingested it', async () => {
    for (const [more, waiting, untold] of [
      [{ WEBHOOK_URL: 'http://127.0.0.1:9/hook' }, ['new'], 0],
      [{}, [], 1],
      [{ NOTIFY_AFTER: 'wrong' }, [], 1],
    ] as [Env, string[], number][]) {
      const env = { ...(await sqliteEnv()), ...more };
      const child = spawn(process.execPath, [childFile], {
        env: { ...process.env, ...env, RATE: '5' },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      // Waits until the desk worker has ingested the failures, so that only the crash is new.
      const isTaken = async () => (await runDesk(['--search', 'boom', '--json'], env)).out.includes('0000000');
      await expect.poll(isTaken, { timeout: 20_000 }).toBe(true);
      child.kill('SIGKILL');
      await once(child, 'exit');
      expect((await runDesk(['--kind', 'unclean-death'], env)).out).toContain('Process died');
      await withStore(env.DATA_DIR ?? '', async (store, driver) => {
        const { waiting: notifications } = await store.listNotifications(9);
        expect(notifications.map(({ kind }) => kind)).toEqual(waiting);
        const rows = await driver.all(
          "SELECT 1 FROM desk_incidents WHERE kind = 'unclean-death' AND untold IS NOT NULL",
        );
        expect(rows).toHaveLength(untold);
      });
    }
  });

  it('does not replace a corrupt database', async () => {
    const env = await sqliteEnv();
    writeFileSync(join(env.DATA_DIR ?? '', 'desk.sqlite'), 'broken');
    expect(await runDesk([], env)).toMatchObject({ code: 1, err: expect.stringContaining('cannot be used') });
    expect(readdirSync(env.DATA_DIR ?? '')).toEqual(['desk.sqlite']);
  });
});

const childFile = fileURLToPath(new URL('../../../support/desk-child.ts', import.meta.url));

describe('backup and restore', () => {
  it('makes a backup while a server runs, but restores none', async () => {
    const env = await sqliteEnv();
    const desk = await openBeside(env);
    await record(desk, createFailure({ digest }));
    const file = join(env.DATA_DIR ?? '', 'backup.sqlite');
    expect(await runDesk(['backup', file], env)).toMatchObject({ code: 0, out: '' });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await runDesk(['backup', file], env)).toMatchObject({ code: 1, err: expect.stringContaining('--force') });
    expect((await runDesk(['backup', file, '--force'], env)).code).toBe(0);
    expect(readdirSync(env.DATA_DIR ?? '').filter((name) => name.includes('.part'))).toEqual([]);
    expect(await runDesk(['restore', file], env)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/server is using .* Stop .*Nothing was restored/),
    });
    await record(desk, createFailure({ digest }));
    expect((await desk.ask('find', digest))?.incident.counts.server).toBe(2);
  });

  it('restores a corrupt store, and keeps the corrupt file', async () => {
    const env = await sqliteEnv();
    const folder = env.DATA_DIR ?? '';
    const file = join(folder, 'backup.sqlite');
    const desk = await openBeside(env);
    await record(desk, createFailure({ digest }));
    await runDesk(['backup', file], env);
    await desk.close();
    truncateSync(join(folder, 'desk.sqlite'), 5000);
    expect((await runDesk([], env)).code).toBe(1);

    const restored = await runDesk(['restore', file], env);
    expect(restored).toMatchObject({ code: 0, err: expect.stringContaining('Restored 1 incident from the backup of') });
    expect(statSync(join(folder, 'desk.sqlite')).mode & 0o777).toBe(0o600);
    expect((await runDesk([digest], env)).out).toContain('TypeError: boom');
    const [aside] = readdirSync(folder).filter((name) => name.includes('.before-restore-'));
    expect(statSync(join(folder, aside ?? '')).size).toBe(5000);
    expect((await (await openBeside(env)).ask('find', digest))?.incident.counts.server).toBe(1);
  });

  it('restores a backup that was made under load, through a pipe', async () => {
    const env = await sqliteEnv();
    const child = spawn(process.execPath, [childFile], {
      env: { ...process.env, ...env, RATE: '400', DIGESTS: '9' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    await expect.poll(async () => (await runDesk([], env)).code, { timeout: 20_000 }).toBe(0);
    child.stdout.resume();
    const there = await sqliteEnv();
    const file = join(there.DATA_DIR ?? '', 'backup.sqlite');
    const backup = await runDesk(['backup', '-'], env, 'latin1');
    expect(backup).toMatchObject({ code: 0 });
    writeFileSync(file, backup.out, 'latin1');
    expect(await runDesk(['restore', file], there)).toMatchObject({ code: 0 });
    const { incidents } = JSON.parse((await runDesk(['--json'], there)).out) as { incidents: { digest: string }[] };
    for (const incident of incidents) {
      const { counts, recent } = JSON.parse((await runDesk([incident.digest, '--json'], there)).out);
      expect(counts.server).toBeGreaterThan(0);
      expect(recent.length).toBe(Math.min(counts.server, 12));
    }
    expect(incidents.length).toBeGreaterThan(0);
  });

  it.runIf(process.getuid?.() === 0)("gives the restored files to the server's user when root runs them", async () => {
    const env = await sqliteEnv();
    const folder = env.DATA_DIR ?? '';
    await (await openBeside(env)).close();
    await runDesk(['backup', join(folder, 'backup.sqlite')], env);
    chownSync(folder, 1234, 1234);
    expect((await runDesk(['restore', join(folder, 'backup.sqlite')], env)).code).toBe(0);
    for (const name of ['desk.sqlite', 'instance.lock']) expect(statSync(join(folder, name)).uid).toBe(1234);
  });

  it('say what to do with PostgreSQL, and restore finishes what pg_restore restored', async () => {
    const env = await emptyPostgresEnv();
    // Creates the tables for pg_restore.
    expect(await runDesk(['restore'], env)).toMatchObject({ code: 0, err: expect.stringContaining('0 incidents') });
    const desk = await openBeside(env);
    await record(desk, createFailure({ digest }));
    expect((await runDesk(['backup', 'a.dump'], env)).err).toContain('Back it up with pg_dump');
    expect((await runDesk(['restore', 'a.dump'], env)).err).toContain('Restore the dump with pg_restore');
    await expect.poll(() => desk.ask('listProcesses', 1)).toHaveLength(1); // its first heartbeat is stored
    expect((await runDesk(['restore'], env)).err).toMatch(/^A server is using this database .* Stop all servers/);
    await desk.close();
    expect(await runDesk(['restore'], env)).toMatchObject({ code: 0, err: expect.stringContaining('1 incident') });
    expect((await runDesk([digest], env)).out).toContain('TypeError: boom');
  });

  it('are refused while another process locks the folder, and release their lock afterwards', async () => {
    const env = await sqliteEnv();
    const file = join(env.DATA_DIR ?? '', 'backup.sqlite');
    await (await openBeside(env)).close();
    await runDesk(['backup', file], env);
    const lock = takeLock(join(env.DATA_DIR ?? '', 'instance.lock'));
    expect((await runDesk(['restore', file], env)).code).toBe(1);
    lock?.release();
    expect((await runDesk(['restore', file], env)).code).toBe(0);
    expect((await runDesk(['restore', file], env)).code).toBe(0);
    expect((await runDesk(['restore', join(env.DATA_DIR ?? '', 'none')], env)).err).toContain('does not exist');
    expect((await runDesk(['restore'], env)).code).toBe(2);
  });
});

describe('a sign-in link', () => {
  const env = async (more: Env = {}) => {
    const made = { ...(await sqliteEnv()), ...more };
    await openBeside(made);
    return made;
  };

  it('is printed with the name that it signs in', async () => {
    const made = await env({ OPERATOR_TOKEN: TOKEN, PUBLIC_ORIGINS: 'https://shop.example,https://www.shop.example' });
    const { code, out, err } = await runDesk(['link'], made);
    expect(code).toBe(0);
    expect(out).toMatch(/^https:\/\/shop\.example\/desk\?ticket=[\w-]{43}\.[\w-]{22}\n$/);
    expect(err).toBe('Sign-in link for operator. It works once and expires after 15 minutes.\n');
    expect(out + err).not.toContain(TOKEN);
  });

  it("leads to the desk's separate listener if it has one", async () => {
    const made = await env({
      OPERATOR_TOKEN: TOKEN,
      PUBLIC_ORIGINS: 'https://shop.example',
      DESK_PORT: '3001',
      HOST: '::',
    });
    const { out, err } = await runDesk(['link'], made);
    expect(out).toMatch(/^http:\/\/\[::1\]:3001\/desk\?ticket=/);
    expect(err).toContain('guesses the address of the server from HOST and DESK_PORT.');
  });

  it('says that its address is a guess without a public origin', async () => {
    const { out, err } = await runDesk(['link'], await env({ OPERATOR_TOKEN: TOKEN, PORT: '4321' }));
    expect(out).toMatch(/^http:\/\/127\.0\.0\.1:4321\/desk\?ticket=/);
    expect(err).toContain('guesses the address of the server from HOST and PORT.');
  });

  it('needs a name if there are several, and is not created for an unknown name', async () => {
    const made = await env({ OPERATOR_TOKEN: `ada:${TOKEN}-1,grace:${TOKEN}-2`, VIEWER_TOKEN: `tim:${TOKEN}-3` });
    const asked = await runDesk(['link'], made);
    expect(asked).toMatchObject({ code: 1, out: '', err: expect.stringContaining('ada, grace, tim (read-only)') });
    expect((await runDesk(['link', 'tim'], made)).err).toContain('Sign-in link for tim (read-only).');
    expect(await runDesk(['link', 'nobody'], made)).toMatchObject({ code: 1, out: '' });
  });

  it('is not created if no token is set', async () => {
    const made = await env();
    const { code, err } = await runDesk(['link'], made);
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining("Set OPERATOR_TOKEN to the server's value"),
    });
    expect(existsSync(join(made.DATA_DIR ?? '', 'desk-token'))).toBe(false);
  });
});
