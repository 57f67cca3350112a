import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHANGED, type Clone, createClone } from './clone.ts';

let clone: Clone;
beforeAll(async () => {
  clone = createClone();
  await expect(clone.run('npm run own -- --with cats --yes')).rejects.toThrow(
    'Usage: npm run own -- [--with accounts]',
  );
  const said = await clone.run('npm run own -- --with accounts --yes');
  expect(said).toContain('docs/guide/13-accounts.md');
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

  test('lets you add models, whose rows belong to the signed-in user', async () => {
    const note = 'note title:text body:longtext pages:number isDone:boolean due:date';
    for (const words of [note, 'order-item name:text order:text']) await clone.run(`npm run new -- model ${words}`);
    await clone.run('npm run new -- page /about --static');
  });

  test('leaves an app that type-checks and lints', async () => {
    expect(existsSync(join(clone.folder, '.env.part'))).toBe(false);
    await Promise.all([clone.run('npm run typecheck'), clone.run(`npm run lint -- ${CHANGED.join(' ')}`)]);
  }, 300_000);

  test('has passing tests, on SQLite and on PostgreSQL', async () => {
    const passed = /^[1-9]\d* passed, 0 failed$/m;
    const said = await clone.run('npm test');
    expect(said).toMatch(passed);
    for (const path of [
      'server/product/accounts/accounts.test.ts',
      'e2e/product/accounts.test.ts',
      'server/product/pages/notes.test.ts',
    ]) {
      expect(said).toContain(path);
    }
    expect(await clone.run('npm test -- --project=unit', { TEST_DATABASE: 'postgres' })).toMatch(passed);
  }, 300_000);

  test('does not start without a mail server on a public address', async () => {
    await expect(clone.start({ PUBLIC_ORIGINS: 'https://app.example' })).rejects.toThrow('Set SMTP_URL and MAIL_FROM.');
  });
});
