import { setTimeout as sleep } from 'node:timers/promises';
import { load, start, warmUp } from './servers.mjs';
import { median, summarize } from './statistics.mjs';

/**
 * One line of the table.
 *
 * @typedef {object} Row
 * @property {string} title
 * @property {string} unit
 * @property {Record<string, number>} values by side
 * @property {Record<string, ReturnType<typeof summarize>>} [shares] of bare Node, by side. More is better for requests
 *   and CPU, less for everything else
 * @property {boolean} [isIdle] whether something else than the servers limited the requests
 */

/**
 * The works that are measured under load. `{n}` is another number in each request. With a `rate`, also at that many
 * requests a second: a client that is never idle makes the answers of the fastest server cheaper than they are
 * elsewhere, because none has to wake it.
 */
export const LOADS = {
  cards: { title: 'card page', path: '/cards?q={n}' },
  large: { title: 'large page', path: '/large' },
  deferred: { title: 'deferred data', path: '/feed?q={n}' },
  api: { title: 'API answer', path: '/api/stations/{n}', rate: 4000 },
  static: { title: 'static page of 6 kB', path: '/prose', rate: 4000 },
};

/** Calls `measure` for every name, in another order each round. @returns results by name, for each round */
async function inRounds(names, rounds, measure) {
  const results = [];
  for (let round = 0; round < rounds; round += 1) {
    const turned = names.map((_, index) => names[(index + round) % names.length]);
    const result = {};
    for (const name of round % 2 ? turned.reverse() : turned) result[name] = await measure(name);
    results.push(result);
  }
  return results;
}

const mapSides = (sides, toValue) => Object.fromEntries(Object.keys(sides).map((side) => [side, toValue(side)]));

/** The shares are medians of the ratios of each round, because its sides meet the same other work on the machine. */
function toRow(title, unit, rounds, pick, isInverse = false) {
  const ratio = (one, other) => (isInverse ? pick(other) / pick(one) : pick(one) / pick(other));
  return {
    title,
    unit,
    values: mapSides(rounds[0], (side) => median(rounds.map((round) => pick(round[side])))),
    shares: mapSides(rounds[0], (side) => summarize(rounds.map((round) => ratio(round[side], round.bare)))),
  };
}

const perSecond = ({ requests, seconds }) => requests / seconds;
const cpuOf = ({ cpu, requests }) => cpu / requests;

function toLoadRows(title, rounds) {
  const busy = Object.keys(rounds[0]).map((side) =>
    median(rounds.map(({ [side]: { cpu, seconds } }) => cpu / seconds)),
  );
  return [
    { ...toRow(title, 'requests/s', rounds, perSecond), isIdle: Math.min(...busy) < 900 },
    toRow('', 'CPU, ms', rounds, cpuOf, true),
  ];
}

export async function measureLoad(name, { sides, rounds, seconds }) {
  const { title, path, rate } = LOADS[name];
  const order = { path, seconds };
  const servers = {};
  for (const side of Object.keys(sides)) servers[side] = await start(sides[side]);
  for (const server of Object.values(servers)) await warmUp(server, order);
  const results = await inRounds(Object.keys(sides), rounds, async (side) => {
    const result = await load(servers[side], order);
    if (result.failed > 0) throw new Error(`${side} refused or broke off ${result.failed} answers to ${path}.`);
    return result;
  });
  const rows = toLoadRows(title, results);
  if (name === 'cards') rows.push(toRow('  p99 / p50', '', results, ({ p99, p50 }) => p99 / p50));
  if (rate) {
    const paced = await inRounds(Object.keys(sides), rounds, (side) => load(servers[side], { path, rate, seconds }));
    rows.push(toRow(`  at ${rate} requests/s`, 'CPU, ms', paced, cpuOf, true));
  }
  if (name === 'deferred') {
    const visit = (side) => load(servers[side], { path, connections: 1, seconds: seconds / 2 });
    const visits = await inRounds(Object.keys(sides), rounds, visit);
    rows.push(toRow('  first byte, one visitor', 'ms', visits, ({ firstByte }) => firstByte));
  }
  await Promise.all(Object.values(servers).map((server) => server.stop()));
  return rows;
}

/** The first ten seconds of new processes, and their memory after them. */
export async function measureCold({ sides, rounds, seconds }) {
  const results = await inRounds(Object.keys(sides), Math.ceil(rounds / 3), async (side) => {
    const server = await start(sides[side]);
    const result = await load(server, { path: '/cards?q={n}', seconds: 10 * seconds });
    const memory = server.memory();
    await server.stop();
    return { ...result, memory };
  });
  const title = `card page, first ${10 * seconds} s`;
  return [...toLoadRows(title, results), toRow('  memory after it', 'MB', results, ({ memory }) => memory)];
}

/** From the start of the process until its first answer is complete, and its memory when it has done nothing else. */
export async function measureStart({ sides, rounds }) {
  const results = await inRounds(Object.keys(sides), Math.min(rounds, 5), async (side) => {
    const server = await start(sides[side]);
    const answer = await fetch(`http://127.0.0.1:${server.port}/cards?q=1`);
    await answer.text();
    const time = performance.now() - server.begun;
    await sleep(1500);
    const memory = server.memory();
    await server.stop();
    return { time, memory };
  });
  return [
    toRow('cold start to the first answer', 'ms', results, ({ time }) => time),
    toRow('  memory then, idle', 'MB', results, ({ memory }) => memory),
  ];
}
