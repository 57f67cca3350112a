import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPostgresDatabase } from '#engine/testing';
// biome-ignore-start lint/style/noRestrictedImports: this test is removed with the tour
import { followPage } from '../../support/guide.ts';
import { createVisitor } from '../../support/owned-app.ts';
import { startMailServer } from '../../support/receivers.ts';
// biome-ignore-end lint/style/noRestrictedImports: this test is removed with the tour
import { CHANGED, type Clone, createClone, project } from './clone.ts';

let clone: Clone;
beforeAll(async () => {
  clone = createClone();
  await expect(clone.run('npm run own -- --with cats --yes')).rejects.toThrow(
    'Usage: npm run own -- [--with accounts]',
  );
  await expect(clone.run('npm run own -- --with accounts')).rejects.toThrow(
    'Run `npm run own -- --with accounts --yes` to confirm.',
  );
  const said = await clone.run('npm run own -- --with accounts --yes');
  expect(said).toContain('docs/guide/accounts.md');
}, 120_000);
afterAll(() => clone?.remove());

describe('npm run own -- --with accounts', () => {
  test('installs the query builder in production too', () => {
    const { dependencies, devDependencies } = JSON.parse(clone.read('package.json'));
    expect([dependencies.kysely, devDependencies.kysely]).toEqual([expect.stringMatching(/^\d/), undefined]);
    const { packages } = JSON.parse(clone.read('package-lock.json'));
    expect(packages[''].dependencies).toEqual(dependencies);
    expect(packages[''].devDependencies).toEqual(devDependencies);
    expect(packages['node_modules/kysely'].dev).toBeUndefined();
  });

  test('can be extended by the chapter of the guide, and by other models', async () => {
    followPage(clone.folder, readFileSync(join(project, 'docs/guide/accounts.md'), 'utf8'));
    const fields = 'name:text notes:longtext order:text weight:number isSold:boolean soldAt:date';
    await clone.run(`npm run new -- model order-item ${fields}`);
    await clone.run('npm run new -- page /about --static');
  });

  test('leaves an app that type-checks and lints', async () => {
    expect(existsSync(join(clone.folder, '.env.part'))).toBe(false);
    expect(clone.read('.env.example')).toMatch(/\n\n# .+\n# DATABASE_URL=/);
    await Promise.all([clone.run('npm run typecheck'), clone.run(`npm run lint -- ${CHANGED.join(' ')}`)]);
  }, 300_000);

  test('has passing tests, on SQLite and on PostgreSQL', async () => {
    const passed = /^[1-9]\d* passed, 0 failed$/m;
    const said = await clone.run('npm test');
    expect(said).toMatch(passed);
    for (const path of [
      'server/product/accounts/accounts.test.ts',
      'e2e/product/accounts.test.ts',
      'server/product/pin-notes.test.ts',
      'product/failures/4XB0W2TA.test.ts',
    ]) {
      expect(said).toContain(path);
    }
    expect(await clone.run('npm test -- --project=unit', { TEST_DATABASE: 'postgres' })).toMatch(passed);
  }, 300_000);

  test('runs on PostgreSQL, and sends mail through SMTP_URL', async () => {
    const mails = await startMailServer();
    const token = 'an-operator-token-of-a-test-with-enough-characters';
    const env = {
      DATABASE_URL: await createPostgresDatabase(),
      SMTP_URL: `smtp://127.0.0.1:${mails.port}`,
      MAIL_FROM: 'app@example.com',
      NOTIFY_PRIVATE_TARGETS: '127.0.0.1',
      OPERATOR_TOKEN: token,
    };
    await clone.run('npm run build');
    // Both run the migrations at the same time.
    const urls = await Promise.all(['a', 'b'].map((name) => clone.start({ ...env, DATA_DIR: `./data-${name}` })));
    const [url = ''] = urls;
    const visitor = createVisitor(url);
    const signUp = (email: string) => visitor.post('/sign-up', { _action: 'sign-up.sendLink', email });
    expect((await signUp('ada@example.com')).status).toBe(200);
    await expect.poll(() => mails.mails.length).toBe(1);
    const mail = mails.mails[0]?.data.replaceAll('=\r\n', '') ?? ''; // long lines are split
    expect(mail).toMatch(/^To: ada@example.com\r?$/m);

    // A user sees personal pages as private ones, and static pages like everyone.
    const [link = ''] = /\/choose-password\/[\w-]+/.exec(mail) ?? [];
    await visitor.post(link, { _action: 'choose-password.choose', password: 'correct horse battery' });
    const [home, about] = [await visitor.get('/'), await visitor.get('/about')];
    expect([home.headers.get('cache-control'), await home.text()]).toEqual([
      'private, no-cache',
      expect.stringContaining('ada@example.com'),
    ]);
    expect([about.headers.get('cache-control'), await about.text()]).toEqual([
      'public, no-cache',
      expect.not.stringContaining('ada@example.com'),
    ]);

    // A job that fails gets an address.
    mails.answer = '451 not now';
    expect((await signUp('emmy@example.com')).status).toBe(200);
    const headers = { authorization: `Bearer ${token}` };
    const listIncidents = (url: string) =>
      fetch(`${url}/api/desk/incidents`, { headers }).then((reply) => reply.text());
    // Either server can have run the job.
    await expect.poll(async () => (await Promise.all(urls.map(listIncidents))).join()).toContain('451');
    await mails.close();
  }, 120_000);

  test.each([
    [{ HOST: '0.0.0.0' }, 'Set PUBLIC_ORIGINS.'],
    [{ PUBLIC_ORIGINS: 'https://app.example' }, 'Set SMTP_URL and MAIL_FROM.'],
    [
      {
        PUBLIC_ORIGINS: 'https://app.example',
        SMTP_URL: 'smtps://mail.example',
        MAIL_FROM: 'app@example.com',
        SEED: 'on',
      },
      'SEED adds an account whose password is public.',
    ],
  ])('does not start on a public address with %o', async (env, words) => {
    await expect(clone.start(env)).rejects.toThrow(words);
  });
});
