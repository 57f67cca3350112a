import './required-node.mjs';
import { randomBytes, randomInt } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { build, stopBuilder } from '../build.mjs';
import { REPORT_TAGS } from '../src/shared/engine/reporting/report-tags.ts';
import { findFreePort } from '../tests/support/free-port.ts';
import { usePostgres } from '../tests/support/use-postgres.ts';
import { judge, serve, TOKEN } from './served.mjs';

/**
 * Runs two replicas on one PostgreSQL: `node bench/soak.mjs`. For MINUTES (30), visitors read pages and cause failures,
 * others abort at random times, and strangers send invalid cookies, reports, echoes, feedback, and bodies that never end.
 * The replicas are restarted in turn, every third time with SIGKILL, except in the last tenth of the time. Then all
 * requests stop, and the contents of the store are compared with what the replicas acknowledged. Exits with 1 if
 * something differs.
 */
const minutes = Number(process.env.MINUTES ?? 30);
/** Actions per second. */
const RATES = { visit: 20, fail: 3, abort: 30, guess: 20, report: 15, echo: 5, say: 3, stall: 2, operate: 1 };
/** Pause between two restarts (ms). */
const RESTART_PAUSE = 20_000;
/** Longest response, start or drain (ms). */
const PATIENCE = 30_000;
/** How long a page can continue after its visitor left, plus a second (ms). */
const LEAVE_LIMIT = 16_000;
const MiB = 1024 * 1024;

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

/** Addresses of failures whose response arrived. */
const failed = [];
/** By action: responses by status, wrong responses, and requests that a killed replica did not answer. */
const answers = {};
const wrong = {};
const unanswered = { visit: 0, fail: 0, report: 0, operate: 0 };
const restarts = { clean: 0, killed: 0, unclean: 0 };
const AS_OPERATOR = { Authorization: `Bearer ${TOKEN}` };
let resident = 0;
let isOver = false;

await build({ log: console.error });
await stopBuilder();
const cleanups = [];
const folder = mkdtempSync(join(tmpdir(), 'spillway-soak-'));
cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
const postgres = usePostgres();
cleanups.push(() => postgres.end());
const databaseUrl = await postgres.createDatabase();
const replicas = await Promise.all(['one', 'two'].map(createReplica));
const rows = await soak().finally(async () => {
  for (const clean of cleanups.reverse()) await clean();
});
judge(rows);

async function soak() {
  for (const path of [...PAGES, ...PAGES, ...PAGES]) {
    for (const replica of replicas) await ask(replica, { path });
  }
  const before = await lookAtRest();
  console.error(`Both replicas are ready. The rest takes ${minutes} minutes.`);
  const began = performance.now();
  const loads = Object.entries({ visit, fail, abort, guess, report, echo, say, stall, operate }).map(repeat);
  for (let turn = 0; performance.now() - began < minutes * 54_000 - RESTART_PAUSE; turn += 1) {
    await sleep(RESTART_PAUSE);
    await restart(replicas[turn % 2], turn % 3 === 2);
  }
  await sleep(minutes * 60_000 - (performance.now() - began));
  isOver = true;
  await Promise.all(loads);
  await sleep(LEAVE_LIMIT);
  const after = await lookAtRest();
  const inProgress = await sumOf('spillway_pages_in_progress');
  const connections = await sumOf('spillway_open_connections');
  const unstored = await waitUntilStored();
  const lost = await countLost();
  const stored = await readStore();
  const dataBytes = sizeOf(folder);
  for (const replica of replicas) await stop(replica, 'SIGTERM');
  console.log(JSON.stringify({ answers, wrong, restarts, unanswered, stored }, null, 2));

  const reports = answers.report?.[200] ?? 0;
  const failures = failed.length;
  const heap = (looks) => Math.max(...looks.map(({ heapUsed }) => heapUsed));
  const handles = (looks) => looks.map((look) => look.handles.join(' ')).join(' and ');
  return [
    equal('pages in progress', inProgress, 0),
    // The two connections of these requests are open.
    atMost('open connections', connections, 2),
    equal('handles', handles(after), handles(before)),
    equal('wrong responses', sum(wrong), 0),
    between('failures of the server, stored', stored.server, failures, unanswered.fail),
    equal('killed processes, stored', stored.deaths, restarts.killed),
    equal('acknowledged addresses that are not stored', lost, 0),
    between('failures of browsers, stored', stored.browser, reports, unanswered.report),
    atMost('echoes, at most one per failure', stored.echoes, stored.server),
    equal('feedback without a failure of the server', stored.strayFeedback, 0),
    equal('journal entries that are not stored (bytes)', unstored, 0),
    equal('replicas that did not exit after SIGTERM', restarts.unclean, 0),
    atMost('resident memory of a replica (MiB)', toMiB(resident), 400),
    atMost('heap at rest (MiB)', toMiB(heap(after)), toMiB(heap(before)) + 16),
    atMost('DATA_DIR of both (MiB)', toMiB(dataBytes), 32),
    atMost('database (MiB)', toMiB(stored.bytes), 500),
  ];
}

async function createReplica(name) {
  const port = await findFreePort();
  const home = join(folder, name);
  mkdirSync(home);
  const replica = { port, home };
  await start(replica);
  return replica;
}

async function start(replica) {
  const env = {
    PORT: String(replica.port),
    HOST: '127.0.0.1',
    DESK_DATABASE_URL: databaseUrl,
    DRAIN_LAG: '1',
    OVERLOAD_DELAY: '0',
    LOG_LEVEL: process.env.LOG_LEVEL ?? 'fatal',
  };
  replica.server = await serve({ env, isProbed: true, isPinned: false, folder: replica.home });
  replica.agent = new Agent({ keepAlive: true });
  Object.assign(replica, { isUp: true, isKilled: false });
}

/** Restarts a replica. Visitors avoid it during the shutdown, as with a proxy. */
async function restart(replica, isKill) {
  replica.isUp = isKill;
  replica.isKilled = isKill;
  const { agent } = replica;
  await stop(replica, isKill ? 'SIGKILL' : 'SIGTERM');
  replica.isUp = false;
  agent.destroy();
  await start(replica);
}

async function stop({ server: { child } }, signal) {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  const code = await Promise.race([ended, sleep(PATIENCE, 'late')]);
  if (signal === 'SIGKILL') restarts.killed += 1;
  else restarts[code === 0 ? 'clean' : 'unclean'] += 1;
  if (code === 'late') child.kill('SIGKILL');
}

/** Repeats an action at its rate until the end of the test. */
async function repeat([name, deed]) {
  const begun = [];
  const began = performance.now();
  for (let done = 0; !isOver; await sleep(20)) {
    const due = ((performance.now() - began) / 1000) * RATES[name];
    for (; done < due; done += 1) {
      const up = replicas.filter(({ isUp }) => isUp);
      if (up.length > 0) begun.push(deed(pick(up)));
    }
  }
  await Promise.all(begun);
}

async function visit(replica) {
  await expect('visit', replica, await ask(replica, { path: pick(PAGES), from: toAddress(1) }), [200]);
}

async function fail(replica) {
  const answer = await ask(replica, { path: pick(FAILURES), from: toAddress(1) });
  const address = answer.headers?.['x-error-digest'];
  if (address !== undefined) failed.push(address);
  expect('fail', replica, answer, [500]);
}

async function operate(replica) {
  const path = pick(['/metrics', '/readyz', '/api/desk/incidents?limit=20']);
  const answer = await ask(replica, { path, headers: AS_OPERATOR });
  expect('operate', replica, answer, [200]);
  const found = /^process_resident_memory_bytes (\d+)/m.exec(answer.text ?? '');
  if (found) resident = Math.max(resident, Number(found[1]));
}

/** Aborts at a random time, often before the response starts. */
async function abort(replica) {
  const method = pick(['GET', 'GET', 'HEAD']);
  const headers = pick([{}, { Cookie: toCookie() }]);
  await ask(replica, { path: pick(PAGES), method, headers, from: toAddress(2), leaveAfter: Math.random() ** 2 * 80 });
}

async function guess(replica) {
  const path = pick([...PAGES, '/desk', '/desk/7K3QM2XA', '/api/desk/incidents']);
  const answer = await ask(replica, { path, headers: { Cookie: toCookie() }, from: toAddress(3) });
  expect('guess', replica, answer, [200, 401, 429]);
}

async function report(replica) {
  const type = pick(['Error', `Error${randomInt(1000)}`, `Error${randomBytes(6).toString('hex')}`]);
  expect('report', replica, await sendEvent(replica, { type }), [200, 429]);
}

async function echo(replica) {
  const tags = { [REPORT_TAGS.echo]: toSomeAddress() };
  expect('echo', replica, await sendEvent(replica, { tags }), [200, 429]);
}

async function say(replica) {
  const text = randomBytes(200).toString('hex');
  const answer = await pick([post, report])();
  expect('say', replica, answer, [200, 429]);

  function post() {
    const body = new URLSearchParams({ address: toSomeAddress(), text }).toString();
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    return ask(replica, { path: '/?_feedback', method: 'POST', headers, body, from: toAddress(5) });
  }

  function report() {
    const said = { event_id: randomBytes(16).toString('hex'), comments: text, name: 'Ada', email: 'ada@example.com' };
    return send(replica, 'user_report', said);
  }
}

/** Starts a body and never ends it. */
async function stall(replica) {
  const headers = { 'Content-Type': 'text/plain', 'Content-Length': 100_000 };
  const options = { path: '/_report', method: 'POST', headers, body: 'a', isPart: true, from: toAddress(6) };
  await ask(replica, { ...options, leaveAfter: 15_000 });
}

function sendEvent(replica, { type = 'Error', tags = {} }) {
  const exception = { values: [{ type, value: 'made up' }] };
  return send(replica, 'event', { event_id: randomBytes(16).toString('hex'), exception, tags });
}

function send(replica, type, payload) {
  const dsn = `http://spillway@127.0.0.1:${replica.port}/1`;
  const body = [{ dsn }, { type }, payload].map((line) => JSON.stringify(line)).join('\n');
  const headers = { 'Content-Type': 'text/plain', Origin: `http://127.0.0.1:${replica.port}` };
  return ask(replica, { path: '/_report', method: 'POST', headers, body, from: toAddress(4) });
}

/**
 * @param leaveAfter when to abort (ms), at any state of the response
 * @param isPart whether the body is incomplete
 * @returns the response, or `error`
 */
function ask(replica, { path, method = 'GET', headers = {}, body, from, leaveAfter, isPart = false }) {
  const { port, agent } = replica;
  const shared = leaveAfter === undefined && { agent };
  const { promise, resolve } = Promise.withResolvers();
  const sent = request(
    { host: '127.0.0.1', port, path, method, headers, localAddress: from, ...shared },
    (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('error', (error) => resolve({ error }));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
    },
  );
  sent.on('error', (error) => resolve({ error, isKilled: replica.isKilled }));
  if (leaveAfter !== undefined) setTimeout(() => sent.destroy(new Error('left')), leaveAfter);
  sent.setTimeout(PATIENCE, () => sent.destroy(new Error('no answer')));
  if (isPart) sent.write(body);
  else sent.end(body);
  return promise;
}

function expect(name, replica, { status, error }, statuses) {
  const what = error ? (error.code ?? error.message) : status;
  const isLost = error !== undefined && replica.isKilled;
  if (isLost && name in unanswered) unanswered[name] += 1;
  else {
    answers[name] ??= {};
    answers[name][what] = (answers[name][what] ?? 0) + 1;
    if (!isLost && !statuses.includes(status)) wrong[`${name}: ${what}`] = (wrong[`${name}: ${what}`] ?? 0) + 1;
  }
}

/** Returns the bytes that are still not stored after a while. */
async function waitUntilStored() {
  const end = performance.now() + PATIENCE;
  let bytes = await sumOf('spillway_journal_waiting_bytes');
  while (bytes > 0 && performance.now() < end) {
    await sleep(500);
    bytes = await sumOf('spillway_journal_waiting_bytes');
  }
  return bytes;
}

async function countLost() {
  let lost = 0;
  for (const [index, address] of failed.entries()) {
    const [digest, occurrence] = address.split('-');
    const path = `/api/desk/incidents/${digest}/occurrences/${occurrence}`;
    const { status } = await ask(replicas[index % 2], { path, headers: AS_OPERATOR });
    if (status !== 200) lost += 1;
  }
  return lost;
}

async function readStore() {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const statements = {
    server: "SELECT COALESCE(SUM(server_count), 0) AS value FROM desk_incidents WHERE kind <> 'unclean-death'",
    browser: 'SELECT COALESCE(SUM(browser_count), 0) AS value FROM desk_incidents',
    deaths: "SELECT COALESCE(SUM(server_count), 0) AS value FROM desk_incidents WHERE kind = 'unclean-death'",
    incidents: 'SELECT COUNT(*) AS value FROM desk_incidents',
    occurrences: 'SELECT COUNT(*) AS value FROM desk_occurrences',
    echoes: "SELECT COUNT(*) AS value FROM desk_aliases WHERE reason = 'echo'",
    feedback: 'SELECT COUNT(*) AS value FROM desk_feedback',
    strayFeedback: `SELECT COUNT(*) AS value FROM desk_feedback f WHERE NOT EXISTS
      (SELECT 1 FROM desk_incidents i WHERE i.digest = f.digest AND i.server_count > 0)`,
    bytes: 'SELECT pg_database_size(current_database()) AS value',
  };
  const read = {};
  try {
    for (const [name, sql] of Object.entries(statements)) read[name] = Number((await client.query(sql)).rows[0].value);
    const { rows } = await client.query(
      'SELECT title, server_count FROM desk_incidents WHERE server_count > 0 LIMIT 20',
    );
    read.titles = Object.fromEntries(rows.map((row) => [row.title, Number(row.server_count)]));
  } finally {
    await client.end();
  }
  return read;
}

/** Inspects both replicas without connections of this process. */
async function lookAtRest() {
  for (const { agent } of replicas) agent.destroy();
  await sleep(1000);
  return Promise.all(replicas.map(({ server }) => server.look()));
}

async function sumOf(metric) {
  const texts = await Promise.all(replicas.map((replica) => ask(replica, { path: '/metrics', headers: AS_OPERATOR })));
  const values = texts.map(({ text }) => Number(new RegExp(`^${metric} (\\d+)$`, 'm').exec(text)?.[1]));
  return values.reduce((total, value) => total + value, 0);
}

function sizeOf(path) {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((total, { parentPath, name }) => total + statSync(join(parentPath, name)).size, 0);
}

/** Returns a loopback address. Each network has 20 senders. */
function toAddress(network) {
  return `127.0.${network}.${1 + randomInt(20)}`;
}

/** Returns a random cookie. Half of them look like a session's. */
function toCookie() {
  const id = randomBytes(32).toString('base64url');
  return `desk=${pick([id, `${id}.${randomBytes(16).toString('base64url')}`])}`;
}

/** Returns the address of a failure, or a made-up one. */
function toSomeAddress() {
  return pick([failed.at(-1 - randomInt(50)), '7K3QM2XA-9F4W0R6B']) ?? '7K3QM2XA-9F4W0R6B';
}

function pick(list) {
  return list[randomInt(list.length)];
}

function sum(counts) {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

function toMiB(bytes) {
  return Math.round(bytes / MiB);
}

function equal(what, seen, demand) {
  return { what, demand, seen, isMet: seen === demand };
}

function atMost(what, seen, most) {
  return { what, demand: `≤ ${most}`, seen, isMet: seen <= most };
}

function between(what, seen, least, spare) {
  return { what, demand: `${least} to ${least + spare}`, seen, isMet: seen >= least && seen <= least + spare };
}
