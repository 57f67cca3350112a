import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createPostgresDatabase } from '#engine/testing';
import { followPage } from '../../support/guide.ts';
import { createVisitor } from '../../support/owned-app.ts';
import { startMailServer } from '../../support/receivers.ts';
import { CHANGED, type Clone, createClone, project } from './clone.ts';

/** Runs what the chapter of the guide adds to the accounts start. */
const PIN_TEST = `import request from 'supertest';
import { expect, it } from 'vitest';
import { addNote, listNotes } from '#product-server/notes.ts';
import { openApp } from '../../support/product/open-app.ts';
import { addUser, openTestServices, startSession } from '../../support/product/visitor.ts';

it('shows a pinned note first', async () => {
  const { services } = await openTestServices();
  const { app } = await openApp({ services });
  const user = await addUser(services);
  for (const text of ['Old', 'New']) await addNote(services.db, user, text);
  const old = (await listNotes(services.db, user)).find(({ text }) => text === 'Old');
  const cookie = await startSession(services, user);
  const form = request(app).post('/notes').set({ cookie }).type('form');
  await form.send({ _action: 'notes.pin', id: old?.id }).expect(303);
  expect((await listNotes(services.db, user)).map(({ text }) => text)).toEqual(['Old', 'New']);
});
`;

const PASSED = /^[1-9]\d* passed, 0 failed$/m;

/** Checks an app by types, lint and its own tests. @returns what `npm test` printed */
async function check({ run }: Clone): Promise<string> {
  // The stricter check of the three trees is done with the tests of the recipes.
  await Promise.all([run('npx tsc -p tsconfig.json'), run(`npm run lint -- ${CHANGED.join(' ')}`)]);
  const said = await run('npm test -- tests/architecture');
  expect(said).toMatch(PASSED);
  expect(said).not.toContain('tests/server/front');
  return said;
}

describe('npm run own', () => {
  let clone: Clone;
  beforeAll(() => {
    clone = createClone();
  });
  afterAll(() => clone?.remove());

  test('refuses if there are uncommitted changes, and removes nothing', async () => {
    await clone.run('git init');
    await expect(clone.run('npm run own -- --yes')).rejects.toThrow('There are uncommitted changes');
    expect(existsSync(join(clone.folder, 'src/shared/product/pages/cards/cards.tsx'))).toBe(true);
    await clone.run('git config status.showUntrackedFiles no');
    await expect(clone.run('npm run own -- --yes')).rejects.toThrow('There are uncommitted changes');
    // As for a folder of another user.
    const another = { GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' };
    await expect(clone.run('npm run own -- --yes', another)).rejects.toThrow('dubious ownership');
    expect(existsSync(join(clone.folder, 'src/shared/product/pages/cards/cards.tsx'))).toBe(true);
    rmSync(join(clone.folder, '.git'), { recursive: true });
  });

  test('refuses unknown options, and asks before it removes anything', async () => {
    await expect(clone.run('npm run own -- --with cats --yes')).rejects.toThrow('Usage: npm run own');
    await expect(clone.run('npm run init -- --with accounts < /dev/null')).rejects.toThrow(
      'Run `npm run own -- --with accounts --yes` to confirm.',
    );
  });

  test('replaces the tour, and says what to do next', async () => {
    // As in a larger repository, or after a push of changed files: the remote has a commit that is not Spillway's.
    const identity = '-c user.name=ada -c user.email=a@example.com';
    const push = `git init && git add . && git ${identity} commit -qm Shop && git update-ref refs/remotes/origin/main HEAD`;
    await clone.run(push);
    const said = await clone.run('npm run own -- --yes');
    rmSync(join(clone.folder, '.git'), { recursive: true, force: true });
    expect(said).toContain('npm run new -- page /about');
    expect(existsSync(join(clone.folder, 'tests/bin/product'))).toBe(false);
    const jobs = ['.ci', '.github/workflows'].flatMap((folder) => readdirSync(join(clone.folder, folder)));
    expect(jobs).toEqual(['run', 'ci.yml']);
    const { version } = JSON.parse(clone.read('package.json'));
    expect(JSON.parse(clone.read('.spillway.json'))).toEqual({ version });
    await expect(clone.run('npm run own -- --yes')).rejects.toThrow('The tour has already been removed');
  });

  test('leaves no mention of the tour in files that you edit', () => {
    const hint =
      'Put text about the tour between <!-- tour --> and <!-- /tour -->, so that it is removed with the tour.';
    for (const path of ['.env.example', 'README.md', 'src/shared/product/routes.tsx']) {
      expect(clone.read(path), hint).not.toMatch(/\btour\b/i);
    }
  });

  test('leaves an app that passes its checks, and all tests in `npm run test:all`', async () => {
    for (const words of ['page /about', 'page /orders/:id', 'api gauges']) await clone.run(`npm run new -- ${words}`);
    const said = await check(clone);
    const written = ['pages/about.test.ts', 'pages/order.test.ts', 'api/gauges/handlers.test.ts'];
    for (const path of ['e2e/product/home.test.ts', ...written.map((name) => `server/product/${name}`)]) {
      expect(said).toContain(path);
    }
    const { test } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')).scripts;
    expect(JSON.parse(clone.read('package.json')).scripts['test:all']).toBe(test);
  }, 900_000);

  test('handles all operations that clients know, in `npm run check`', async () => {
    const { check } = JSON.parse(clone.read('package.json')).scripts;
    expect(await clone.run(`npx ${check.split(' && ').at(-1)}`)).toMatch(PASSED);
  }, 120_000);

  test('serves its pages, with settings from `.env` unless the environment sets them', async () => {
    writeFileSync(join(clone.folder, '.env'), 'PORT=1\nDATA_DIR=./data-of-env\n');
    const url = await clone.start();
    expect(existsSync(join(clone.folder, 'data-of-env/desk-token'))).toBe(true);
    const read = async (path: string) => (await fetch(url + path)).text();
    expect(await read('/')).toContain('npm run new -- page /about');
    expect(await read('/nothing')).toContain('Page not found');
    expect(await read('/about')).toContain('<h1>About</h1>');
    expect(await read('/orders/12')).toMatch(/<h1>Order (?:<!-- -->)?12<\/h1>/);
    expect(await read('/api/gauges')).toBe('[]');
  });
});

test('npm run own writes no lockfile beside that of another package manager', async () => {
  const clone = createClone();
  onTestFinished(() => clone.remove());
  renameSync(join(clone.folder, 'package-lock.json'), join(clone.folder, 'pnpm-lock.yaml'));
  await clone.run('npm run own -- --yes');
  expect(existsSync(join(clone.folder, 'package-lock.json'))).toBe(false);
});

describe('npm run own -- --with accounts', () => {
  let clone: Clone;
  beforeAll(async () => {
    clone = createClone();
    expect(await clone.run('npm run own -- --with accounts --yes')).toContain('docs/guide/accounts.md');
  }, 120_000);
  afterAll(() => clone?.remove());

  test('installs its packages in production too', () => {
    const { dependencies, devDependencies } = JSON.parse(clone.read('package.json'));
    const { packages } = JSON.parse(clone.read('package-lock.json'));
    for (const name of ['better-auth', '@better-auth/kysely-adapter', 'kysely', 'pg']) {
      expect([dependencies[name], devDependencies[name]]).toEqual([expect.stringMatching(/^\d/), undefined]);
      expect(packages[`node_modules/${name}`].dev).toBeUndefined();
    }
    expect(packages[''].dependencies).toEqual(dependencies);
    expect(clone.read('package-lock.json')).not.toContain('"resolved"');
    for (const part of ['.env.part', 'compose.part']) expect(existsSync(join(clone.folder, part))).toBe(false);
    expect(clone.read('.env.example')).toMatch(/\n\n# .+\n# AUTH_SECRET=/);
    const [, site = ''] = /\nx-site:([\s\S]+)\nservices:/.exec(clone.read('compose.yaml')) ?? [];
    for (const words of ['DATABASE_URL: postgres:', 'AUTH_SECRET: ${', 'SMTP_URL: ${', 'condition: service_healthy']) {
      expect(site).toContain(` ${words}`);
    }
  });

  test('leaves an app that passes its checks, with the chapter of the guide, also on PostgreSQL', async () => {
    followPage(clone.folder, readFileSync(join(project, 'docs/guide/accounts.md'), 'utf8'));
    await clone.run('npm run new -- page /about --static');
    writeFileSync(join(clone.folder, 'tests/server/product/pin-notes.test.ts'), PIN_TEST);
    const said = await check(clone);
    for (const path of ['accounts/accounts.test.ts', 'pin-notes.test.ts']) {
      expect(said).toContain(`product/${path}`);
    }
    expect(await clone.run('npm test', { TEST_DATABASE: 'postgres' })).toMatch(PASSED);
  }, 900_000);

  test('runs on PostgreSQL with several servers, sends mail, and signs in with another provider', async () => {
    const mails = await startMailServer();
    const token = 'an-operator-token-of-a-test-with-enough-characters';
    const env = {
      AUTH_SECRET: 'a secret of a test, with more than 32 characters',
      DATABASE_URL: await createPostgresDatabase(),
      SMTP_URL: `smtp://127.0.0.1:${mails.port}`,
      MAIL_FROM: 'app@example.com',
      OPERATOR_TOKEN: token,
    };
    await clone.run('npm run build');
    // Both run the migrations at the same time.
    const urls = await Promise.all(['a', 'b'].map((name) => clone.start({ ...env, DATA_DIR: `./data-${name}` })));
    const [url = '', other = ''] = urls;
    const visitor = createVisitor(url);
    const signUp = (email: string) => visitor.post('/sign-up', { _action: 'sign-up.signUp', email });
    expect((await signUp('ada@example.com')).status).toBe(200);
    await expect.poll(() => mails.mails.length).toBe(1);
    const mail = mails.mails[0]?.data.replaceAll('=\r\n', '').replaceAll('=3D', '=') ?? ''; // long lines are split
    expect(mail).toMatch(/^To: ada@example.com\r?$/m);

    // A user sees personal pages as private ones, and static pages like everyone.
    const [link = ''] = /\/choose-password\?token=[\w-]+/.exec(mail) ?? [];
    const password = 'correct horse battery';
    await createVisitor(other).post(link, { _action: 'choose-password.choose', password });
    await visitor.post('/sign-in', { _action: 'sign-in.signIn', email: 'ada@example.com', password });
    for (const [path, caching, isPersonal] of [
      ['/', 'private, no-cache', true],
      ['/about', 'public, no-cache', false],
    ] as const) {
      const reply = await visitor.get(path);
      expect(reply.headers.get('cache-control')).toBe(caching);
      expect((await reply.text()).includes('ada@example.com')).toBe(isPersonal);
    }

    const stranger = createVisitor(url);
    expect(await (await stranger.get('/sign-in')).text()).toContain('Sign in with github');
    const sent = await stranger.get('/auth/sign-in/github');
    expect([sent.status, sent.headers.get('location')]).toEqual([
      302,
      expect.stringMatching(/^https:\/\/github\.com\/login\/oauth\/authorize\?.*redirect_uri=[^&]*callback%2Fgithub/),
    ]);
    const forged = await stranger.get('/auth/callback/github?code=1&state=forged');
    expect([forged.status, forged.headers.get('location')]).toEqual([302, expect.stringContaining('/sign-in?error=')]);

    // A mail that fails gets an address.
    mails.answer = '451 not now';
    expect((await signUp('emmy@example.com')).status).toBe(200);
    const headers = { authorization: `Bearer ${token}` };
    const readIncidents = async () => (await fetch(`${url}/api/desk/incidents`, { headers })).text();
    await expect.poll(readIncidents).toContain('451');
    await mails.close();
  }, 600_000);

  test.each([
    [{ HOST: '0.0.0.0' }, 'Set PUBLIC_ORIGINS.'],
    [{ PUBLIC_ORIGINS: 'https://app.example' }, 'Set AUTH_SECRET'],
    [{ PUBLIC_ORIGINS: 'https://app.example', AUTH_SECRET: 'short' }, 'The setting AUTH_SECRET is too short.'],
  ])('does not start on a public address with %o', async (env, words) => {
    await expect(clone.start(env)).rejects.toThrow(words);
  });
});
