import { randomBytes, randomInt } from 'node:crypto';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { build, stopBuilder } from '../build.mjs';
import { findFreePort } from '../tests/support/free-port.ts';
import { createPostgresDatabase, stopPostgres } from '../tests/support/postgres.ts';
import { makeFolder, start, TOKEN } from './servers.mjs';

/**
 * Runs two replicas on one PostgreSQL: `node bench/soak.mjs`. For MINUTES (30), visitors read pages and cause failures,
 * others abort at random times, and strangers send invalid cookies, reports, and bodies that never end. The replicas are
 * restarted in turn, every third time with SIGKILL, except in the last tenth of the time. Then all requests stop, and the
 * contents of the store are compared with what the replicas acknowledged. Exits with 1 if something differs.
 */
const minutes = Number(process.env.MINUTES ?? 30);
/** Pause between two restarts (ms). */
const RESTART_PAUSE = 20_000;
/** How long a page can continue after its visitor left, plus a second (ms). */
const LEAVE_LIMIT = 16_000;

const PAGES = [
  '/',
  '/tour/cards',
  '/tour/streaming',
  '/tour/static',
  '/tour/forms',
  '/_data/tour/cards',
  '/api/tour/todos',
];
const FAILURES = ['/tour/fail/loader', '/tour/fail/render', '/api/tour/fail'];
const AS_OPERATOR = { Authorization: `Bearer ${TOKEN}` };

/** What visitors, strangers and operators do: how often in a second, and which statuses are right. */
const ACTIONS = {
  visit: { rate: 20, statuses: [200], make: () => ({ path: pick(PAGES) }) },
  fail: { rate: 3, statuses: [500], make: () => ({ path: pick(FAILURES) }) },
  /** Often before the response starts. */
  abort: { rate: 30, make: () => ({ path: pick(PAGES), headers: toCookie(), leaveAfter: Math.random() ** 2 * 80 }) },
  guess: {
    rate: 20,
    statuses: [200, 401, 429],
    make: () => ({ path: pick([...PAGES, '/desk', '/desk/7K3QM2XA', '/api/desk/incidents']), headers: toCookie() }),
  },
  report: { rate: 15, statuses: [200, 429], make: toReport },
  /** A body that never ends. */
  stall: {
    rate: 2,
    make: () => ({ path: '/_report', headers: { 'Content-Length': 100_000 }, body: 'a', leaveAfter: 15_000 }),
  },
  operate: {
    rate: 1,
    statuses: [200],
    make: () => ({ path: pick(['/metrics', '/readyz', '/api/desk/incidents?limit=20']), headers: AS_OPERATOR }),
  },
};

/** Runs in the server: collects garbage, and reports memory and handles. */
const PROBE = `
  process.channel && process.on('message', async () => {
    for (let time = 0; time < 4; time++) { gc(); await new Promise((resolve) => setTimeout(resolve, 100)); }
    const handles = process.getActiveResourcesInfo().filter((name) => name !== 'Timeout').sort().join(' ');
    process.send({ heap: process.memoryUsage().heapUsed / 2 ** 20, handles });
  });
  process.channel?.unref();`;

/** Addresses of failures whose response arrived. */
const failed = [];
/** Responses by action and status, and requests that a killed replica did not answer. */
const answers = {};
const wrong = new Set();
const exits = [];
let killed = 0;
let resident = 0;
let isOver = false;

await build({ log: console.error });
await stopBuilder();
const databaseUrl = await createPostgresDatabase();
const replicas = await Promise.all([1, 2].map(createReplica));
const findings = await soak().finally(() => stopPostgres(''));
console.table(answers);
console.table(findings);
process.exit(Object.values(findings).every(({ isMet }) => isMet) ? 0 : 1);

async function soak() {
  for (const path of [...PAGES, ...PAGES, ...PAGES]) for (const replica of replicas) await ask(replica, { path });
  const before = await lookAtRest();
  const began = performance.now();
  const loads = Object.keys(ACTIONS).map(repeat);
  for (let turn = 0; performance.now() - began < minutes * 54_000 - RESTART_PAUSE; turn += 1) {
    await sleep(RESTART_PAUSE);
    await restart(replicas[turn % 2], turn % 3 === 2 ? 'SIGKILL' : 'SIGTERM');
  }
  await sleep(minutes * 60_000 - (performance.now() - began));
  isOver = true;
  await Promise.all(loads);
  await sleep(LEAVE_LIMIT);
  const after = await lookAtRest();
  for (let tries = 0; tries < 60 && (await sumOf('spillway_journal_waiting_bytes')) > 0; tries += 1) await sleep(500);
  const unstored = await sumOf('spillway_journal_waiting_bytes');
  const lost = await countLost();
  const stored = await readStore();
  for (const { server } of replicas) exits.push(await server.stop('SIGTERM'));

  const { fail, report } = answers;
  const heaps = [before, after].map((looks) => Math.max(...looks.map(({ heap }) => heap)));
  const handles = [before, after].map((looks) => looks.map((look) => look.handles).join(' and '));
  const exactly = (seen, wanted) => ({ seen, wanted, isMet: seen === wanted });
  const within = (seen, least, most) => ({ seen, wanted: `${least} to ${most}`, isMet: seen >= least && seen <= most });
  return {
    handles: exactly(handles[1], handles[0]),
    'wrong responses': exactly([...wrong].join(), ''),
    'failures of the server, stored': within(stored.server, failed.length, failed.length + (fail.unanswered ?? 0)),
    'failures of browsers, stored': within(stored.browser, report[200], report[200] + (report.unanswered ?? 0)),
    'killed processes, stored': exactly(stored.deaths, killed),
    'acknowledged addresses that are not stored': exactly(lost, 0),
    'journal entries that are not stored (bytes)': exactly(unstored, 0),
    'exit codes after SIGTERM': exactly(Math.max(...exits), 0),
    'resident memory of a replica (MB)': within(Math.round(resident), 0, 400),
    'growth of the heap at rest (MB)': within(Math.round(heaps[1] - heaps[0]), -Infinity, 16),
  };
}

async function createReplica() {
  const replica = { port: await findFreePort(), home: makeFolder() };
  await startReplica(replica);
  return replica;
}

async function startReplica(replica) {
  const env = {
    PORT: String(replica.port),
    DATA_DIR: replica.home,
    DESK_DATABASE_URL: databaseUrl,
    DRAIN_LAG: '1',
    OVERLOAD_DELAY: '0',
    LOG_LEVEL: 'fatal',
  };
  Object.assign(replica, { server: await start({ env, probe: PROBE }), isUp: true, isKilled: false });
}

/** Restarts a replica. Visitors avoid it during the shutdown, as with a proxy. */
async function restart(replica, signal) {
  resident = Math.max(resident, replica.server.memory());
  replica.isKilled = signal === 'SIGKILL';
  replica.isUp = replica.isKilled;
  const code = await replica.server.stop(signal);
  replica.isUp = false;
  if (replica.isKilled) killed += 1;
  else exits.push(code);
  await startReplica(replica);
}

/** Repeats an action at its rate until the end of the test. */
async function repeat(name, index) {
  const { rate, make, statuses } = ACTIONS[name];
  answers[name] = {};
  const begun = [];
  async function act(replica) {
    const answer = await ask(replica, { ...make(replica), from: `127.0.${index}.${1 + randomInt(20)}` });
    const what = answer.isKilled ? 'unanswered' : (answer.status ?? answer.error.message);
    answers[name][what] = (answers[name][what] ?? 0) + 1;
    if (statuses && !answer.isKilled && !statuses.includes(what)) wrong.add(`${name}: ${what}`);
    if (name === 'fail' && answer.status) failed.push(answer.headers['x-error-digest']);
  }
  for (const began = performance.now(); !isOver; await sleep(20)) {
    const up = replicas.filter(({ isUp }) => isUp);
    while (up.length > 0 && begun.length < ((performance.now() - began) / 1000) * rate) begun.push(act(pick(up)));
  }
  await Promise.all(begun);
}

/**
 * @param leaveAfter when to abort (ms), at any state of the response
 * @returns the response, or `error`
 */
function ask(replica, { path, headers = {}, body, from, leaveAfter }) {
  const { promise, resolve } = Promise.withResolvers();
  const fail = (error) => resolve({ error, isKilled: replica.isKilled });
  const method = body ? 'POST' : 'GET';
  const options = { host: '127.0.0.1', port: replica.port, path, method, headers, localAddress: from, agent: false };
  const sent = request({ ...options, timeout: 30_000 }, async (response) => {
    const parts = response.setEncoding('utf8').toArray();
    await parts.then(
      (read) => resolve({ status: response.statusCode, headers: response.headers, text: read.join('') }),
      fail,
    );
  });
  sent.on('error', fail);
  sent.on('timeout', () => sent.destroy(new Error('no answer')));
  if (leaveAfter !== undefined) setTimeout(() => sent.destroy(new Error('left')), leaveAfter);
  sent.end(body);
  return promise;
}

async function countLost() {
  let lost = 0;
  for (const [index, address] of failed.entries()) {
    const { text } = await ask(replicas[index % 2], { path: `/api/desk/incidents/${address}`, headers: AS_OPERATOR });
    const { shown, missed } = JSON.parse(text);
    // Beyond the limit of an hour, a failure is only counted.
    const isStored = address.endsWith(`-${shown?.occurrence}`) || ['summary', 'sampled'].includes(missed?.state);
    if (!isStored) lost += 1;
  }
  return lost;
}

async function readStore() {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const asked = client.query(`SELECT SUM(browser_count) AS browser,
    COALESCE(SUM(server_count) FILTER (WHERE kind NOT IN ('unclean-death', 'blocked-loop')), 0) AS server,
    COALESCE(SUM(server_count) FILTER (WHERE kind = 'unclean-death'), 0) AS deaths FROM desk_incidents`);
  const { rows } = await asked.finally(() => client.end());
  return Object.fromEntries(Object.entries(rows[0]).map(([name, value]) => [name, Number(value)]));
}

async function lookAtRest() {
  await sleep(1000);
  return Promise.all(replicas.map(({ server }) => server.ask()));
}

async function sumOf(metric) {
  const texts = await Promise.all(replicas.map((replica) => ask(replica, { path: '/metrics', headers: AS_OPERATOR })));
  const values = texts.map(({ text }) => Number(new RegExp(`^${metric} (\\d+)$`, 'm').exec(text)?.[1]));
  return values.reduce((total, value) => total + value);
}

function toReport({ port }) {
  const type = pick(['Error', `Error${randomInt(1000)}`, `Error${randomBytes(6).toString('hex')}`]);
  const event = { event_id: randomBytes(16).toString('hex'), exception: { values: [{ type, value: 'made up' }] } };
  const envelope = [{ dsn: `http://spillway@127.0.0.1:${port}/1` }, { type: 'event' }, event];
  const headers = { 'Content-Type': 'text/plain', Origin: `http://127.0.0.1:${port}` };
  return { path: '/_report', headers, body: envelope.map((line) => JSON.stringify(line)).join('\n') };
}

/** A random cookie, which can look like a session's. */
function toCookie() {
  const [id, tag] = [32, 16].map((bytes) => randomBytes(bytes).toString('base64url'));
  return { Cookie: `desk=${pick([id, `${id}.${tag}`])}` };
}

function pick(list) {
  return list[randomInt(list.length)];
}
