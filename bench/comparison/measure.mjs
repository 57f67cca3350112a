import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { canReadCpu, leaveServerCore, load, start, warmUp } from './sides.mjs';
import { median, summarize } from './statistics.mjs';
import { checkAnswers } from './works.mjs';

/**
 * One line of the table.
 *
 * @typedef {object} Row
 * @property {string} title
 * @property {string} unit
 * @property {Record<string, number | undefined>} values by side
 * @property {Record<string, ReturnType<typeof summarize>>} [shares] of bare Node, by side. More is better for requests
 *   and CPU, less for everything else
 * @property {ReturnType<typeof summarize>} [spread] of Spillway's value, for rows without shares
 * @property {Record<string, number>} [busy] share of the time in which the server used a core, by side
 * @property {{ atLeast?: number, atMost?: number, next?: number, of: 'share' | 'value' | 'above bare' }} [goal]
 */

export const SIDES = ['bare', 'express', 'spillway'];

/** Alternates the order of the sides, so that each is first, in the middle and last equally often. */
function order(round) {
  const turned = SIDES.map((_, index) => SIDES[(index + round) % SIDES.length]);
  return Math.floor(round / SIDES.length) % 2 ? turned.reverse() : turned;
}

export const bySide = (make) => Object.fromEntries(SIDES.map((side) => [side, make(side)]));
const toMedians = (results, of) => bySide((side) => median(results[side].map(of)));

/** The median of the ratios of each round, because both sides of a round meet the same other work on the machine. */
function toShares(results, of, isInverse = false) {
  const ratio = (side, index) => of(results[side][index]) / of(results.bare[index]);
  const toShare = (side) =>
    summarize(results[side].map((_, index) => (isInverse ? 1 / ratio(side, index) : ratio(side, index))));
  return { express: toShare('express'), spillway: toShare('spillway') };
}

export async function startAll(sides) {
  const servers = {};
  for (const side of SIDES) servers[side] = await start(sides[side]);
  return servers;
}

export async function stopAll(servers) {
  await Promise.all(Object.values(servers).map((server) => server.stop()));
}

/**
 * @param {typeof import('./works.mjs').LOADS[number]} work
 * @param {{ sides: Record<string, object>, rounds: number, seconds: number, connections: number }} options
 */
export async function measureLoad(work, { sides, rounds, seconds, connections }) {
  const servers = await startAll(sides);
  leaveServerCore(true);
  const { shapes, goal, nextGoal, cpuGoal = goal, tailGoal, firstByteGoal } = work;
  const results = shapes.map(() => bySide(() => []));
  const alone = bySide(() => []);
  for (const shape of shapes) {
    await checkAnswers(servers, shape);
    for (const side of SIDES) await warmUp(servers[side], shape, { connections, seconds: 2 * seconds });
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, shape] of shapes.entries()) {
      // The second shape only shows whether the first is typical.
      if (index > 0 && round % 2 > 0) continue;
      for (const side of order(round)) {
        results[index][side].push(await load(servers[side], { ...shape, connections, seconds }));
      }
    }
    if (firstByteGoal === undefined) continue;
    for (const side of order(round)) {
      alone[side].push(await load(servers[side], { ...shapes[0], connections: 1, seconds: seconds / 2 }));
    }
  }
  leaveServerCore(false);
  await stopAll(servers);

  const rows = shapes.flatMap((shape, index) =>
    toLoadRows(results[index], {
      title: shape.title,
      goals: index === 0 ? { cpu: toGoal(cpuGoal, nextGoal), requests: toGoal(goal, nextGoal) } : {},
    }),
  );
  if (tailGoal !== undefined) {
    const tail = ({ p99, p50 }) => p99 / p50;
    rows.push({
      title: '  p99 / p50',
      unit: '',
      values: toMedians(results[0], tail),
      goal: { atMost: tailGoal, of: 'value' },
    });
  }
  if (firstByteGoal !== undefined) {
    rows.push({
      title: '  first byte, one visitor',
      unit: 'ms',
      values: toMedians(alone, ({ firstByte }) => firstByte),
      shares: toShares(alone, ({ firstByte }) => firstByte),
      goal: { atMost: firstByteGoal, of: 'share' },
    });
  }
  return { rows, failed: countFailed([...results, alone]) };
}

function toLoadRows(results, { title, goals }) {
  const perSecond = ({ requests, seconds }) => requests / seconds;
  const cpuOf = ({ cpu, requests }) => cpu / requests;
  const rows = [
    {
      title,
      unit: 'requests/s',
      values: toMedians(results, perSecond),
      shares: toShares(results, perSecond),
      goal: goals.requests,
    },
  ];
  if (!canReadCpu) return rows;
  rows[0].busy = toMedians(results, ({ cpu, seconds }) => cpu / seconds / 1000);
  const cpu = {
    title: '',
    unit: 'CPU, ms',
    values: toMedians(results, cpuOf),
    shares: toShares(results, cpuOf, true),
    goal: goals.cpu,
  };
  return [...rows, cpu];
}

const toGoal = (atLeast, next) => (atLeast === undefined ? undefined : { atLeast, next, of: 'share' });

function countFailed(results) {
  return bySide((side) => results.flatMap((of) => of[side]).reduce((sum, { failed }) => sum + failed, 0));
}

/** The first ten seconds of new processes, and their memory after them. */
export async function measureCold({ sides, rounds, seconds, connections }) {
  const results = bySide(() => []);
  const memory = bySide(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const side of order(round)) {
      const server = await start(sides[side]);
      leaveServerCore(true);
      results[side].push(await load(server, { path: '/cards?q={n}', connections, seconds: 10 * seconds }));
      leaveServerCore(false);
      memory[side].push(server.memory());
      await server.stop();
    }
  }
  const title = `card page, first ${10 * seconds} s`;
  const rows = toLoadRows(results, { title, goals: { cpu: toGoal(1), requests: toGoal(1) } });
  return { rows: [...rows, toMemoryRow('  memory after it', memory, 40)], failed: countFailed([results]) };
}

/** From the start of the process until its first answer is complete, and its memory when it has done nothing else. */
export async function measureStart({ sides, rounds }) {
  const times = bySide(() => []);
  const memory = bySide(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const side of order(round)) {
      const server = await start(sides[side]);
      const answer = await fetch(`http://127.0.0.1:${server.port}/cards?q=1`);
      await answer.text();
      times[side].push(performance.now() - server.begun);
      await new Promise((resolve) => setTimeout(resolve, 1500));
      memory[side].push(server.memory());
      await server.stop();
    }
  }
  const start_ = {
    title: 'cold start to the first answer',
    unit: 'ms',
    values: toMedians(times, Number),
    shares: toShares(times, Number),
    goal: { atMost: 1.5, of: 'share' },
  };
  return { rows: [start_, toMemoryRow('  memory then, idle', memory, 25)] };
}

function toMemoryRow(title, memory, atMost) {
  return { title, unit: 'MB', values: toMedians(memory, Number), goal: { atMost, of: 'above bare' } };
}

/** Builds the small app: once with an empty cache, as after `npm ci`, and then again. */
export function measureBuild({ folder, rounds }) {
  const times = [];
  for (let round = 0; round <= rounds; round += 1) {
    rmSync(join(folder, 'dist'), { recursive: true, force: true });
    const begun = performance.now();
    const { status, stderr } = spawnSync(process.execPath, ['build.mjs'], { cwd: folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(`The small app does not build: ${stderr}`);
    times.push((performance.now() - begun) / 1000);
  }
  const [first, ...again] = times;
  const rows = [{ title: 'npm run build, nothing cached', unit: 's', values: { spillway: first } }];
  if (again.length === 0) return { rows };
  const spread = summarize(again);
  const goal = { atMost: 1.5, of: 'value' };
  rows.unshift({ title: 'npm run build, small app', unit: 's', values: { spillway: spread.median }, spread, goal });
  return { rows };
}
