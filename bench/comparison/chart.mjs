const WIDTH = 300;
const HEIGHT = 190;
const COLUMNS = 3;
const LEFT = 50;
const BOTTOM = 34;
const TOP = 44;
const RIGHT = 14;

/**
 * Draws charts whose axes are both logarithmic, so a line of 45 degrees grows as its cause does. It follows the
 * reader's light or dark mode.
 *
 * @param {{ title: string, x: string, points: ({ x: number } & Record<string, number>)[] }[]} charts
 * @returns {string} SVG
 */
export function drawCharts(charts) {
  const rows = Math.ceil(charts.length / COLUMNS);
  const panels = charts.map((chart, index) => {
    const x = (index % COLUMNS) * WIDTH;
    const y = Math.floor(index / COLUMNS) * HEIGHT;
    return `<g transform="translate(${x} ${y})">${drawChart(chart)}</g>`;
  });
  const size = `${COLUMNS * WIDTH} ${rows * HEIGHT}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size}" font-family="system-ui, sans-serif" font-size="10">
<style>
text{fill:#333}.title{font-weight:600;font-size:12px}.axis{stroke:#bbb}path{fill:none;stroke-width:2}
.l0{stroke:#0b6bcb;fill:#0b6bcb}.l1{stroke:#b4530a;fill:#b4530a}.l2{stroke:#2d7d46;fill:#2d7d46}.l3{stroke:#8b3fa8;fill:#8b3fa8}
text.l0,text.l1,text.l2,text.l3{stroke:none}path.l0,path.l1,path.l2,path.l3{fill:none}
@media (prefers-color-scheme:dark){text{fill:#ddd}.axis{stroke:#555}.l0{stroke:#6cb6ff;fill:#6cb6ff}.l1{stroke:#f0a35e;fill:#f0a35e}.l2{stroke:#7ddb9a;fill:#7ddb9a}.l3{stroke:#d79bf0;fill:#d79bf0}}
</style>
${panels.join('\n')}
</svg>
`;
}

function drawChart({ title, x, points }) {
  const names = Object.keys(points[0]).filter((name) => name !== 'x');
  const all = points.flatMap((point) => names.map((name) => point[name]));
  const toX = toScale(
    points.map((point) => point.x),
    LEFT,
    WIDTH - RIGHT,
  );
  const toY = toScale(all, HEIGHT - BOTTOM, TOP);
  const ticks = [Math.min(...all), Math.max(...all)];
  return [
    `<text class="title" x="${LEFT}" y="14">${title}</text>`,
    `<path class="axis" d="M${LEFT} ${TOP}V${HEIGHT - BOTTOM}H${WIDTH - RIGHT}" style="stroke-width:1"/>`,
    ...ticks.map((tick) => `<text x="${LEFT - 4}" y="${toY(tick) + 3}" text-anchor="end">${toWords(tick)}</text>`),
    ...points.map(
      (point) =>
        `<text x="${toX(point.x)}" y="${HEIGHT - BOTTOM + 13}" text-anchor="middle">${toWords(point.x)}</text>`,
    ),
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 6}" text-anchor="middle">${x}</text>`,
    ...names.map((name, index) => drawLine({ name, index, points, toX, toY })),
  ].join('\n');
}

function drawLine({ name, index, points, toX, toY }) {
  const at = points.map((point) => `${toX(point.x)} ${toY(point[name])}`);
  const dots = points.map((point) => `<circle class="l${index}" cx="${toX(point.x)}" cy="${toY(point[name])}" r="2"/>`);
  const column = index % 2;
  const label = `<text class="l${index}" x="${LEFT + column * 125}" y="${26 + Math.floor(index / 2) * 11}">${name}</text>`;
  return [`<path class="l${index}" d="M${at.join('L')}"/>`, ...dots, label].join('');
}

function toScale(values, from, to) {
  const least = Math.log(Math.min(...values));
  const range = Math.log(Math.max(...values)) - least || 1;
  return (value) => Math.round(from + ((Math.log(value) - least) / range) * (to - from));
}

function toWords(value) {
  if (value >= 1e6) return `${value / 1e6}M`;
  if (value >= 1e4) return `${Math.round(value / 1000)}k`;
  return value >= 10 ? String(Math.round(value)) : value.toPrecision(2).replace(/\.0$/, '');
}
