import { describe, expect, it } from 'vitest';
import { forgetAttempts, limitAttempts } from '#product-server/accounts/attempts.ts';
import { deleteExpired } from '#product-server/accounts/delete-expired.ts';
import { createLink, readLink, takeLink } from '#product-server/accounts/links.ts';
import { hashPassword, isPassword } from '#product-server/accounts/passwords.ts';
import { sendAccountLink } from '#product-server/accounts/send-account-link.ts';
import { startSession } from '#product-server/accounts/sessions.ts';
import { deleteUser, findByPassword, hasUser, setPassword } from '#product-server/accounts/users.ts';
import { SEED_USER, seed } from '#product-server/database/seed.ts';
import { addUser, useDatabase } from '../../../support/product/test-database.ts';

const database = useDatabase();

const PAST = '2020-01-01T00:00:00.000Z';

describe('a password', () => {
  it('is stored as a salted hash, and compared with it', async () => {
    const [one, other] = await Promise.all([hashPassword('Straße am Fluss'), hashPassword('Straße am Fluss')]);
    expect(one).not.toBe(other);
    expect(one).toMatch(/^scrypt\$32768\$8\$3\$/);
    expect(await isPassword('Straße am Fluss', one)).toBe(true);
    expect(await isPassword('Straße am Flusse', one)).toBe(false);
  });

  it('is the same in both forms of Unicode', async () => {
    expect(await isPassword('caf\u0065\u0301', await hashPassword('caf\u00e9'))).toBe(true);
  });

  it('is never right for a user who does not exist', async () => {
    expect(await isPassword('', undefined)).toBe(false);
    expect(await findByPassword(database.db, 'nobody@example.com', 'anything')).toBeUndefined();
  });
});

describe('a user', () => {
  it('is created with the first password, and kept with the next', async () => {
    const { db } = database;
    const created = await setPassword(db, 'ada@example.com', 'the first password');
    const changed = await setPassword(db, 'ada@example.com', 'the second password');
    expect(changed).toEqual(created);
    expect(await findByPassword(db, 'ada@example.com', 'the second password')).toEqual(created);
    expect(await findByPassword(db, 'ada@example.com', 'the first password')).toBeUndefined();
  });

  it('loses all sessions and links with a new password', async () => {
    const { db } = database;
    const user = await addUser(db);
    await startSession(db, user);
    const link = await createLink(db, user.email);
    await setPassword(db, user.email, 'another password');
    expect(await db.selectFrom('sessions').selectAll().execute()).toEqual([]);
    expect(await readLink(db, link)).toBeUndefined();
  });

  it('is deleted with their sessions and links, and others stay', async () => {
    const { db } = database;
    const [ada, emmy] = [await addUser(db), await addUser(db, 'emmy@example.com')];
    await Promise.all([startSession(db, ada), startSession(db, emmy), createLink(db, ada.email)]);
    await deleteUser(db, ada);
    expect(await hasUser(db, ada.email)).toBe(false);
    expect(await db.selectFrom('sessions').select('userId').execute()).toEqual([{ userId: emmy.id }]);
    expect(await db.selectFrom('links').selectAll().execute()).toEqual([]);
  });
});

describe('a link', () => {
  it('works once, and only its hash is stored', async () => {
    const { db } = database;
    const token = await createLink(db, 'ada@example.com');
    expect(JSON.stringify(await db.selectFrom('links').selectAll().execute())).not.toContain(token);
    expect(await readLink(db, token)).toBe('ada@example.com');
    expect(await takeLink(db, token)).toBe('ada@example.com');
    expect(await takeLink(db, token)).toBeUndefined();
    expect(await readLink(db, token)).toBeUndefined();
  });

  it('expires', async () => {
    const { db } = database;
    const token = await createLink(db, 'ada@example.com');
    await db.updateTable('links').set({ expiresAt: PAST }).execute();
    expect([await readLink(db, token), await takeLink(db, token)]).toEqual([undefined, undefined]);
    await deleteExpired(db);
    expect(await db.selectFrom('links').selectAll().execute()).toEqual([]);
  });

  it.each([
    [true, 'Choose a new password'],
    [false, 'Confirm your email address'],
  ])('is mailed with words for the reader, with an account: %s', async (isKnown, subject) => {
    const { db } = database;
    if (isKnown) await addUser(db);
    const mails: { to: readonly string[]; subject: string; text: string }[] = [];
    const sendMail = async (mail: (typeof mails)[number]) => void mails.push(mail);
    await sendAccountLink('ada@example.com', { db, sendMail, origin: 'https://app.example', uid: 'job-1' });
    expect(mails).toMatchObject([{ uid: 'job-1', to: ['ada@example.com'], subject }]);
    const [, token = ''] = /^https:\/\/app\.example\/choose-password\/(\S+)$/m.exec(mails[0]?.text ?? '') ?? [];
    expect(await readLink(db, token)).toBe('ada@example.com');
  });
});

describe('attempts', () => {
  const limit = () => limitAttempts(database.db, 'try', 2);

  it('are refused with 429 beyond the limit', async () => {
    await limit();
    await limit();
    await limitAttempts(database.db, 'try something else', 2);
    await expect(limit()).rejects.toMatchObject({ status: 429 });
  });

  it('are accepted again after their time, and when they are forgotten', async () => {
    await limit();
    await limit();
    await database.db.updateTable('attempts').set({ endsAt: PAST }).execute();
    await limit();
    await limit();
    await expect(limit()).rejects.toMatchObject({ status: 429 });
    await forgetAttempts(database.db, 'try');
    await expect(limit()).resolves.toBeUndefined();
  });
});

it('seeds an empty database, and only that', async () => {
  const { db } = database;
  await seed(db);
  await seed(db);
  expect(await findByPassword(db, SEED_USER.email, SEED_USER.password)).toMatchObject({ email: SEED_USER.email });
  expect(await db.selectFrom('users').selectAll().execute()).toHaveLength(1);
});
