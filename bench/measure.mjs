import { setTimeout as sleep } from 'node:timers/promises';
import { leaveServerCore, load, start, warmUp } from './servers.mjs';
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

const READINGS = Array.from({ length: 16 }, (_, index) => ({
  at: new Date(Date.UTC(2026, 0, 1, index)).toISOString(),
  value: 200 + index / 10,
  note: index % 3 ? '' : 'Hochwasser ★',
}));
const BODY = JSON.stringify({ station: 'Köln', readings: READINGS });

/** The works that are measured under load. `{n}` is another number in each request. */
export const LOADS = {
  cards: [
    { title: 'card page', path: '/cards?q={n}' },
    { title: 'a table with a form', path: '/orders?q={n}' },
  ],
  large: [{ title: 'large page', path: '/large' }],
  deferred: [{ title: 'deferred data', path: '/feed?q={n}' }],
  api: [
    { title: 'API answer', path: '/api/stations/{n}' },
    { title: 'API, a POST', path: '/api/readings', method: 'POST', status: 201, body: BODY },
  ],
  static: [{ title: 'static page of 6 kB', path: '/prose' }],
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

async function startAll(sides) {
  const servers = {};
  for (const side of Object.keys(sides)) servers[side] = await start(sides[side]);
  return servers;
}

const stopAll = (servers) => Promise.all(Object.values(servers).map((server) => server.stop()));

export async function measureLoad(name, { sides, rounds, seconds, connections }) {
  const servers = await startAll(sides);
  leaveServerCore(true);
  const rows = [];
  for (const [index, { title, ...shape }] of LOADS[name].entries()) {
    await compareAnswers(servers, shape);
    const order = { ...shape, connections, seconds };
    for (const server of Object.values(servers)) await warmUp(server, order);
    const results = await inRounds(Object.keys(sides), rounds, async (side) => {
      const result = await load(servers[side], order);
      if (result.failed > 0) throw new Error(`${side} refused or broke off ${result.failed} answers to ${shape.path}.`);
      return result;
    });
    rows.push(...toLoadRows(title, results));
    if (name === 'cards' && index === 0) rows.push(toRow('  p99 / p50', '', results, ({ p99, p50 }) => p99 / p50));
    if (name !== 'deferred') continue;
    const visit = (side) => load(servers[side], { ...order, connections: 1, seconds: seconds / 2 });
    const visits = await inRounds(Object.keys(sides), rounds, visit);
    rows.push(toRow('  first byte, one visitor', 'ms', visits, ({ firstByte }) => firstByte));
  }
  leaveServerCore(false);
  await stopAll(servers);
  return rows;
}

/** @throws Error if a side does not answer, or answers something else than bare Node */
async function compareAnswers(servers, { path, method, body, status = 200 }) {
  const headers = body ? { 'content-type': 'application/json' } : undefined;
  const read = async ({ port }) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path.replace('{n}', '7')}`, { method, body, headers });
    if (answer.status !== status) throw new Error(`${path} was answered with ${answer.status}.`);
    return toContent(await answer.text());
  };
  const expected = await read(servers.bare);
  for (const [side, server] of Object.entries(servers)) {
    if ((await read(server)) !== expected) throw new Error(`${side} answers ${path} differently from bare Node.`);
  }
}

/** The words and tags of a page in alphabetical order, because deferred values arrive in any order. */
function toContent(text) {
  if (text.startsWith('{')) return JSON.stringify(JSON.parse(text));
  const hidden =
    /^[\s\S]*?<body|<script\b[\s\S]*?<\/script>|<template\b[\s\S]*?<\/template>|<!--[\s\S]*?-->|<div hidden id="S:[^"]*">|<p>Loading[\s\S]*?<\/p>|<\/\w+>/g;
  const shown = text.replace(hidden, ' ').replace(/<(\w+)[^>]*>/g, ' <$1> ');
  return shown.split(/\s+/).sort().join(' ');
}

/** The first ten seconds of new processes, and their memory after them. */
export async function measureCold({ sides, rounds, seconds, connections }) {
  const results = await inRounds(Object.keys(sides), Math.ceil(rounds / 3), async (side) => {
    const server = await start(sides[side]);
    leaveServerCore(true);
    const result = await load(server, { path: '/cards?q={n}', connections, seconds: 10 * seconds });
    leaveServerCore(false);
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
