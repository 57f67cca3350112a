import './required-node.mjs';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toThin } from '../src/server/desk/ingest/journal-entry.ts';
import { openPostgres } from '../src/server/desk/store/postgres.ts';
import { openSqlite } from '../src/server/desk/store/sqlite.ts';
import { openStore } from '../src/server/desk/store/store.ts';
import { toCrockford, toOccurrence } from '../src/shared/engine/reporting/address.ts';
import { usePostgres } from '../tests/support/use-postgres.ts';

/**
 * Measures how fast a full store of the desk answers: `node bench/desk-store.mjs`. Fills it like the desk worker, with
 * full events over 90 days, some incidents far more often than others, and runs the queries of the pages. The goal is a
 * median of 50 ms, and 500 MB for the file.
 *
 * Options: STORE sqlite or postgres (started for this), OCCURRENCES, INCIDENTS, ASKED repetitions of each query, WHOLES
 * the share of events that arrive in full. The store keeps up to 111 per incident.
 */
const kind = process.env.STORE ?? 'sqlite';
const total = Number(process.env.OCCURRENCES ?? 1_000_000);
const incidents = Number(process.env.INCIDENTS ?? 5000);
const wholes = Number(process.env.WHOLES ?? 0.2);
const asked = Number(process.env.ASKED ?? 21);
/** Numbers of occurrences at which the store is measured, to show how times grow. */
const stops = [...new Set([10_000, 100_000, total])].filter((stop) => stop <= total);
const BATCH = 4000;
const WORDS =
  'cart order invoice profile search checkout payment coupon address basket product review login session image price stock return refund label parcel wish list gift'.split(
    ' ',
  );
const AGENTS = [
  ...[149, 150, 151, 152].map(
    (version) => `Mozilla/5.0 (X11; Linux x86_64; rv:${version}.0) Gecko/20100101 Firefox/${version}.0`,
  ),
  ...[143, 144, 145].map(
    (version) =>
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`,
  ),
  'Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1',
];
const Day = 24 * 60 * 60 * 1000;
const now = Date.now();
const log = { info() {}, warn: console.error, error: console.error };
const folder = mkdtempSync(join(tmpdir(), 'spillway-desk-store-'));
const cleanups = [() => rmSync(folder, { recursive: true, force: true })];

const driver =
  kind === 'postgres' ? openPostgres(await startDatabase()) : openSqlite(join(folder, 'desk.sqlite'), { log });
const store = await openStore(driver, { rule: 1, environment: 'production', log });
const random = createRandom(42);
const pick = createPick();
const codes = new Map();
/** Addresses to query, with their other search terms. */
const known = [];

let filled = 0;
for (const stop of stops) {
  const began = performance.now();
  while (filled < stop) await fillBatch(Math.min(BATCH, stop - filled));
  const seconds = (performance.now() - began) / 1000;
  await settle();
  const [kept] = await driver.all('SELECT COUNT(*) AS wholes, AVG(LENGTH(data)) AS bytes FROM desk_wholes');
  const answer = {
    store: kind,
    wholes: kept.wholes,
    wholeBytes: Math.round(Number(kept.bytes)),
    occurrences: filled,
    incidents,
    filledInSeconds: Math.round(seconds),
    ...(await readSize()),
  };
  console.log(JSON.stringify({ ...answer, medianMs: await askAll() }, null, 2));
}
await store.close();
for (const clean of cleanups.reverse()) await clean();

async function startDatabase() {
  const server = usePostgres();
  cleanups.push(() => server.end());
  return server.createDatabase();
}

async function fillBatch(size) {
  const failures = Array.from({ length: size }, (_, index) => createFailure(filled + index));
  for (const failure of failures) {
    if (random() < 0.001 || known.length === 0) known.push({ ...failure, title: titleOf(failure.of) });
  }
  await store.ingest({ entries: failures.map(toEntry) });
  filled += size;
}

/** Creates an entry. Sampled-out occurrences are created without details. */
function toEntry({ of, ...failure }) {
  if (random() >= wholes) return { entry: 'thin', thin: toThin(failure) };
  return { entry: 'whole', failure: { ...failure, ...detailsOf(of, failure.at) } };
}

/** Creates the fields that sampled-out occurrences have too. Times run from 90 days ago until now. */
function createFailure(index) {
  const of = pick();
  const id = Buffer.from(Array.from({ length: 16 }, () => Math.floor(random() * 256)));
  const hex = id.toString('hex');
  const at = Math.floor(now - 90 * Day * (1 - (index + random()) / total));
  return {
    of,
    id: hex,
    digest: digestOf(of),
    occurrence: toOccurrence(id.toString('hex')),
    side: of % 5 === 0 ? 'browser' : 'server',
    at,
    build: `build-${Math.floor((at / Day) % 90)}`,
    release: `v${Math.floor((at / Day) % 90)}`,
    route: `/${wordsOf(of)[0]}/:id`,
    requestId: `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`,
    traceId: hex.split('').reverse().join(''),
    visitor: `visitor-${Math.floor(random() * 20_000)}`,
  };
}

/** Creates about 9 kB, like a page's failure with its source lines. */
function detailsOf(of, at) {
  const words = wordsOf(of);
  return {
    ...codeOf(of),
    request: {
      method: 'GET',
      url: `/${words[0]}/${Math.floor(random() * 1e6)}?sort=${words[2]}`,
      headers: { 'user-agent': AGENTS[Math.floor(random() * AGENTS.length)], accept: 'text/html' },
    },
    breadcrumbs: Array.from({ length: 20 }, (_, crumb) => ({
      at: at - crumb * 100 - Math.floor(random() * 100),
      category: 'fetch',
      message: `GET https://api.example/${words[crumb % 3]}/${Math.floor(random() * 1e6)}`,
      level: 'info',
    })),
  };
}

/** Returns the same code for the same incident. */
function codeOf(of) {
  const found = codes.get(of);
  if (found) return found;
  const words = wordsOf(of);
  const file = `src/server/product/pages/${words[0]}Item${of % 700}.ts`;
  const frames = framesOf(of);
  const code = {
    rule: 1,
    kind: of % 11 === 0 ? 'hydration' : 'exception',
    origin: 'loader',
    title: titleOf(of),
    errors: [{ class: 'TypeError', message: titleOf(of).slice(11), frames }],
    resolved: [frames.map((frame, at) => (at < 3 ? { ...frame, file, own: true, context: contextOf(of, at) } : frame))],
    site: { path: file, function: `load${words[2]}`, detail: `${words[1]}.total` },
  };
  codes.set(of, code);
  return code;
}

function titleOf(of) {
  return `TypeError: Cannot read properties of undefined (reading ${wordsOf(of)[1]}${of})`;
}

function framesOf(of) {
  return Array.from({ length: 12 }, (_, index) => ({
    file: index < 6 ? 'server/main.js' : `node_modules/express/lib/router/layer${index}.js`,
    line: 1000 + ((of * 7 + index * 31) % 9000),
    column: 10 + index,
    function: `${wordsOf(of + index)[1]}Handler`,
  }));
}

function contextOf(of, frame) {
  const lines = Array.from({ length: 11 }, (_, line) => {
    const [first, second, third] = wordsOf(of * 13 + frame * 101 + line);
    return `  const ${first} = await ${second}.find(({ ${third} }) => ${third} !== ${of + line}); // ${second}`;
  });
  return { start: 40 + frame, lines };
}

function wordsOf(seed) {
  return [WORDS[seed % WORDS.length], WORDS[(seed * 7 + 3) % WORDS.length], WORDS[(seed * 13 + 5) % WORDS.length]];
}

function digestOf(of) {
  return toCrockford(Buffer.from([1, (of * 37) % 256, (of * 101) % 256, of >> 8, of % 256]).toString('hex'));
}

/** Chooses incidents so that half of all occurrences belong to one or two hundred of them, and each has some. */
function createPick() {
  const sums = [];
  let sum = 0;
  for (let index = 0; index < incidents; index += 1) {
    sum += 1 / (index + 20);
    sums.push(sum);
  }
  return () => {
    if (random() < 0.2) return Math.floor(random() * incidents);
    const wanted = random() * sum;
    let [low, high] = [0, incidents - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle] < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

/** Returns a generator of reproducible random numbers (mulberry32). */
function createRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Runs the maintenance that happens over time in normal operation. */
async function settle() {
  await store.retain({ build: '', now, maxAge: 90 * 86_400_000, maxBytes: 500 * 2 ** 20 });
  if (kind === 'postgres') await driver.run('ANALYZE');
  else await driver.all('PRAGMA wal_checkpoint(TRUNCATE)');
}

async function readSize() {
  if (kind === 'sqlite')
    return { fileMb: toMb(statSync(join(folder, 'desk.sqlite')).size), usedMb: toMb(await store.usedBytes()) };
  const [row] = await driver.all('SELECT pg_database_size(current_database()) AS bytes');
  return { databaseMb: toMb(row.bytes) };
}

async function askAll() {
  const middle = (await store.listIncidents({ limit: 50 })).next;
  const asks = {
    list: () => store.listIncidents({ limit: 50, states: ['open'] }),
    listNextPage: () => store.listIncidents({ limit: 50, cursor: middle }),
    listByCount: () => store.listIncidents({ limit: 50, order: 'count' }),
    listByVisitors: () => store.listIncidents({ limit: 50, order: 'visitors' }),
    listOfRelease: ({ release }) => store.listIncidents({ limit: 50, release }),
    listOfKindAndRoute: ({ route }) => store.listIncidents({ limit: 50, kinds: ['hydration'], route }),
    listOfAWeek: ({ at }) => store.listIncidents({ limit: 50, from: at, to: at + 7 * Day }),
    countStates: () => store.countStates({}),
    searchFile: () => store.listIncidents({ limit: 50, search: 'cartItem' }),
    searchRare: ({ title }) => store.listIncidents({ limit: 50, search: title.slice(-9, -1) }),
    searchCommon: () => store.listIncidents({ limit: 50, search: 'TypeError undefined' }),
    searchAgent: () => store.listIncidents({ limit: 50, search: 'firefox/152 cart' }),
    searchTwoLetters: () => store.listIncidents({ limit: 50, search: 'ff' }),
    requestId: ({ requestId }) => store.resolveQuery(requestId),
    traceId: ({ traceId }) => store.resolveQuery(traceId),
    incidentPage: askPage,
    changes: () => store.readChanges(),
  };
  const medians = {};
  for (const [name, ask] of Object.entries(asks)) medians[name] = await timeMedian(ask);
  return medians;
}

/** Runs the queries of an incident's page, one after the other. */
async function askPage({ digest, occurrence }) {
  await store.find({ digest, occurrence });
  await store.listHours(digest);
  await store.listReleases(digest);
  await store.listSimilar(digest, 10);
  await store.listFeedback(digest, 20);
  await store.listChanges(digest, 50);
  await store.listNotes(digest, 50);
  await store.listOccurrences(digest, { limit: 50 });
  await store.findNeighbours(digest, occurrence);
}

async function timeMedian(ask) {
  const times = [];
  for (let index = 0; index < asked; index += 1) {
    const wanted = known[Math.floor((index / asked) * known.length)];
    const began = performance.now();
    await ask(wanted);
    times.push(performance.now() - began);
  }
  times.sort((left, right) => left - right);
  return Math.round((times[Math.floor(times.length / 2)] ?? 0) * 100) / 100;
}

function toMb(bytes) {
  return Math.round(bytes / 1e6);
}
