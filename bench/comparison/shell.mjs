import { measureFirstBytes } from './first-byte.mjs';
import { canReadCpu, leaveServerCore, load, start, warmUp } from './sides.mjs';
import { median, summarize } from './statistics.mjs';

/** The same cards and the same cart in three modes. `{n}` makes each cart another. */
const SHAPES = [
  { title: 'shell page, 400 cards', times: 8, goals: { faster: 5, firstByte: 1.2 } },
  { title: '  other: 50 cards', times: 1, goals: {} },
];
/** Requests of one visitor for each page in a round (count). */
const FIRST_BYTES = 100;

const MODES = {
  whole: (times) => `/shelf/${times}?q={n}`,
  shell: (times) => `/shell/${times}?q={n}`,
  kept: (times) => `/kept/${times}?q={n}`,
};

/**
 * Compares a page with `mode: 'shell'` with the same page rendered whole for each request, and its first byte with that
 * of the same page with `mode: 'static'`. All three are pages of one server.
 *
 * @param {{ sides: { spillway: Parameters<typeof start>[0] }, rounds: number, seconds: number, connections: number }} options
 */
export async function measureShell({ sides, rounds, seconds, connections }) {
  const server = await start(sides.spillway);
  leaveServerCore(true);
  const rows = [];
  let failed = 0;
  for (const { title, times, goals } of SHAPES) {
    const paths = Object.fromEntries(Object.entries(MODES).map(([mode, toPath]) => [mode, toPath(times)]));
    await checkPages(server, paths);
    const loaded = { whole: [], shell: [] };
    const alone = { shell: [], kept: [] };
    for (const path of Object.values(paths)) await warmUp(server, { path }, { connections, seconds: 2 * seconds });
    for (let round = 0; round < rounds; round += 1) {
      for (const mode of turn(Object.keys(loaded), round)) {
        loaded[mode].push(await load(server, { path: paths[mode], connections, seconds }));
      }
      // Without a search, which static pages and shells do not know, as most visitors come.
      const pages = turn(['shell', 'kept'], round).map((mode) => [mode, paths[mode].replace('?q={n}', '')]);
      const times = await measureFirstBytes(server, Object.fromEntries(pages), FIRST_BYTES);
      for (const mode of Object.keys(alone)) alone[mode].push(median(times[mode]));
    }
    rows.push(...toRows({ title, loaded, alone, goals }));
    failed += Object.values(loaded)
      .flat()
      .reduce((sum, round) => sum + round.failed, 0);
  }
  leaveServerCore(false);
  await server.stop();
  return { rows, failed: { spillway: failed } };
}

const turn = (names, round) => (round % 2 ? names.toReversed() : names);

/** @throws Error if the three pages do not show the same, apart from the cart */
async function checkPages({ port }, paths) {
  const pages = Object.values(paths).map(async (path) => {
    const headers = { 'User-Agent': 'Googlebot/2.1' }; // the whole page in one piece
    const response = await fetch(`http://127.0.0.1:${port}${path.replace('{n}', '7')}`, { headers });
    const html = await response.text();
    if (!html.includes(', your cart has <strong>')) throw new Error(`${path} has no cart.`);
    return /<article>.*<\/article>/s.exec(html)?.[0];
  });
  if (new Set(await Promise.all(pages)).size > 1) throw new Error('The three pages differ.');
}

function toRows({ title, loaded, alone, goals }) {
  const perSecond = ({ requests, seconds }) => requests / seconds;
  const cpuOf = ({ cpu, requests }) => cpu / requests;
  const toValue = (rowTitle, unit, rounds, of) => ({
    title: rowTitle,
    unit,
    values: { spillway: median(rounds.map(of)) },
    spread: summarize(rounds.map(of)),
  });
  function toRatio(rowTitle, ratios, goal) {
    const spread = summarize(ratios);
    const row = { title: rowTitle, unit: 'times', values: { spillway: spread.median }, spread };
    return goal ? { ...row, goal: { ...goal, of: 'value' } } : row;
  }
  const against = (of) => loaded.shell.map((round, index) => of(round) / of(loaded.whole[index]));
  const faster = goals.faster && { atLeast: goals.faster };
  const cpu = [
    toValue('', 'CPU, ms', loaded.shell, cpuOf),
    toValue('  the same page rendered whole', 'CPU, ms', loaded.whole, cpuOf),
    toRatio(
      '  CPU, whole / shell',
      against(cpuOf).map((ratio) => 1 / ratio),
      faster,
    ),
  ];
  return [
    toValue(title, 'requests/s', loaded.shell, perSecond),
    toValue('  the same page rendered whole', 'requests/s', loaded.whole, perSecond),
    toRatio('  requests, shell / whole', against(perSecond), faster),
    ...(canReadCpu ? cpu : []),
    toValue('  first byte, one visitor', 'ms', alone.shell, Number),
    toRatio(
      '  first byte, shell / static',
      alone.shell.map((time, index) => time / alone.kept[index]),
      goals.firstByte && { atMost: goals.firstByte },
    ),
  ];
}
