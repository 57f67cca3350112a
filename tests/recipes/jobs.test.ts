import pg from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { createVisitor, type OwnedApp } from '../support/owned-app.ts';
import { createPostgresDatabase } from '../support/postgres.ts';
import { listFailures } from '../support/server-process.ts';
import { until } from '../support/until.ts';
import { createRecipe } from './recipe.ts';

let app: OwnedApp;

beforeAll(async () => {
  app = createRecipe('jobs');
  const services = 'src/server/product/services.ts';
  app.replace(
    services,
    'welcome: async ({ name }, { id }) =>',
    'welcome: async ({ name }, { id, signal }) => name === "Eve" ? fail() : name === "Grace" ? wait(signal) :',
  );
  app.replace(
    services,
    'export const services',
    `import { setTimeout } from 'node:timers/promises';
    const fail = () => { throw new Error('Eve is not welcome.'); };
    async function wait(signal: AbortSignal) {
      console.log('Grace waits.');
      await setTimeout(60_000, undefined, { signal });
    }
    export const services`,
  );
  app.replace(
    'src/server/product/pages/index.ts',
    'home: null',
    `home: {
      actions: {
        async welcome({ form, context }) {
          await context.services.queue.add('welcome', { name: String(form.get('name')) });
        },
      },
    }`,
  );
  await app.build();
});
afterAll(() => app.remove());

it('runs each job once in one of the servers, and reports and repeats one that fails', async () => {
  const DATABASE_URL = await createPostgresDatabase();
  const servers = await Promise.all(
    ['a', 'b'].map((name) => app.start({ DATABASE_URL, DATA_DIR: `${app.folder}/data-${name}` })),
  );
  const logs = () => servers.map(({ log }) => log()).join('\n');
  const visitor = createVisitor(servers[0]?.url ?? '');
  for (const name of ['Ada', 'Emmy', 'Eve']) {
    expect((await visitor.post('/', { _action: 'home.welcome', name })).status).toBe(303);
  }
  await until(() => /Welcome, Ada!/.test(logs()) && /Welcome, Emmy!/.test(logs()), 'both jobs');
  await until(() => logs().includes('Eve is not welcome.'), 'the failure');
  const db = new pg.Client(DATABASE_URL);
  await db.connect();
  onTestFinished(() => db.end());
  const listJobs = async () => (await db.query("SELECT data->>'name' AS name, state FROM pgboss.job ORDER BY 1")).rows;
  await expect.poll(listJobs).toEqual([
    { name: 'Ada', state: 'completed' },
    { name: 'Emmy', state: 'completed' },
    { name: 'Eve', state: 'retry' },
  ]);
  expect(logs().match(/Welcome, Ada!/g)).toHaveLength(1);
  expect(await Promise.all(servers.map((server) => server.stop()))).toEqual([0, 0]);
});

it('ends a job when the server stops, without an incident, and has one incident while the database is away', async () => {
  const DATABASE_URL = await createPostgresDatabase();
  const server = await app.start({ DATABASE_URL, DATA_DIR: `${app.folder}/data-c` });
  const { pathname } = new URL(DATABASE_URL);
  const db = new pg.Client(DATABASE_URL.replace(pathname, '/postgres'));
  await db.connect();
  onTestFinished(() => db.end());
  await db.query(`ALTER DATABASE ${pathname.slice(1)} ALLOW_CONNECTIONS false`);
  await db.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [pathname.slice(1)]);
  const listDigests = () => listFailures(server.log()).map(({ digest }) => digest);
  await until(() => listDigests().length > 2, 'failures of the queue');
  expect(new Set(listDigests()).size).toBe(1);
  expect(server.log()).toContain('The queue failed.');
  await db.query(`ALTER DATABASE ${pathname.slice(1)} ALLOW_CONNECTIONS true`);

  await createVisitor(server.url).post('/', { _action: 'home.welcome', name: 'Grace' });
  await until(() => server.log().includes('Grace waits.'), 'the job');
  const failures = listDigests().length;
  expect(await server.stop()).toBe(0);
  expect(listDigests()).toHaveLength(failures);
  const own = new pg.Client(DATABASE_URL);
  await own.connect();
  onTestFinished(() => own.end());
  expect((await own.query('SELECT state FROM pgboss.job')).rows).toEqual([{ state: 'retry' }]);
});
