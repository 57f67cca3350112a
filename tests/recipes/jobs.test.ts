import pg from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { createVisitor, type OwnedApp } from '../support/owned-app.ts';
import { createPostgresDatabase } from '../support/postgres.ts';
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
