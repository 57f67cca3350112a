import { SIDES } from './measure.mjs';

/** A server that uses less of its core waits for the load, or for other processes on the machine. */
const BUSY = 0.9;

const HEAD = ['', 'bare Node', 'Express', 'Spillway', '', 'Express / bare', 'Spillway / bare', 'goal', 'met'];

/** Whether a row meets its goal. Undefined without one. @param {import('./measure.mjs').Row} row */
export function isMet({ goal, values, shares }) {
  if (!goal) return undefined;
  const reached = {
    share: shares?.spillway?.median,
    value: values.spillway,
    'above bare': values.spillway - values.bare,
  }[goal.of];
  return goal.atLeast === undefined ? reached <= goal.atMost : reached >= goal.atLeast;
}

/** @param {import('./measure.mjs').Row[]} rows */
export function toTable(rows) {
  return align([HEAD, ...rows.map(toCells)], [0, 4]);
}

/** @param {Awaited<ReturnType<typeof import('./page.mjs').measurePage>>['sides']} sides */
export function toPageTable(sides) {
  const head = ['', 'requests/s', 'CPU, ms', 'p50, ms', 'p99, ms', 'bytes', 'failed'];
  const lines = sides.map(({ folder, failed, ...measured }) => [
    folder,
    ...['requestsPerSecond', 'cpuMs', 'p50', 'p99', 'bytes'].map((name) => toNumber(measured[name])),
    String(failed),
  ]);
  return align([head, ...lines], [0]);
}

/** @param {string[][]} lines @param {number[]} texts columns that are aligned to the left */
function align(lines, texts) {
  const widths = lines[0].map((_, column) => Math.max(...lines.map((cells) => cells[column].length)));
  return lines
    .map((cells) =>
      cells
        .map((cell, column) => (texts.includes(column) ? cell.padEnd(widths[column]) : cell.padStart(widths[column])))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Whether something else than the servers limited the requests. @param {import('./measure.mjs').Row['busy']} busy */
export function isIdle(busy) {
  return Math.min(...Object.values(busy ?? {})) < BUSY;
}

function toCells(row) {
  const { title, unit, values, shares = {}, spread, busy, goal } = row;
  const met = isMet(row);
  return [
    title,
    ...SIDES.map((side) => toNumber(values[side])),
    isIdle(busy) ? `${unit} *` : unit,
    toShare(shares.express),
    spread ? `${toNumber(spread.low)} to ${toNumber(spread.high)}` : toShare(shares.spillway),
    toGoalText(goal),
    met === undefined ? '' : met ? 'yes' : 'no',
  ];
}

/** @param {ReturnType<typeof import('./statistics.mjs').summarize> | undefined} share */
export function toShare(share) {
  return share ? `${share.median.toFixed(2)} (${share.low.toFixed(2)} to ${share.high.toFixed(2)})` : '';
}

function toGoalText(goal) {
  if (!goal) return '';
  const [sign, limit] = goal.atLeast === undefined ? ['≤', goal.atMost] : ['≥', goal.atLeast];
  const where = { share: '', value: '', 'above bare': ' above bare' }[goal.of];
  return `${sign} ${limit}${where}${goal.next === undefined ? '' : `, then ${goal.next}`}`;
}

function toNumber(value) {
  if (value === undefined || Number.isNaN(value)) return '';
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : value >= 0.1 ? 2 : 3);
}
