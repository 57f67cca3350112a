import { SORTS } from '../../../shared/desk/choices.ts';
import type { IncidentRow, PlaceShape, ViewShape } from '../../../shared/desk/shapes.ts';
import { STATE_WORDS } from '../../../shared/desk/words.ts';
import { toAgo, toCount } from '../../../shared/words.ts';
import { toClean } from '../../terminal/clean-text.ts';
import { cut, EMPTY, flow, type Line, type Paper, type Piece, type Style } from '../../terminal/paint.ts';
import { cutToWidth, padToWidth, toWidth } from '../../terminal/text-width.ts';
import { MAX_LIMIT } from './parse-command.ts';

/** A page of incidents. */
export interface ListToDraw {
  readonly now: number;
  readonly view: ViewShape;
  readonly rows: readonly IncidentRow[];
  /** The number of all incidents that match, listed or not. */
  readonly total: number;
  /** Other environments that use the store. */
  readonly others?: readonly string[];
  /** How this command is called: `npm run desk --`. */
  readonly command: string;
}

/** From this width on, the list is a table. In a narrower terminal, each incident has two lines (columns). */
const TABLE_WIDTH = 64;
/** From these widths on, the table also has the place, and then the chart (columns). */
const WHERE_WIDTH = 96;
const CHART_WIDTH = 130;
/** The greatest width of the place (columns). */
const MAX_PLACE = 44;

export function drawList(list: ListToDraw, paper: Paper): Line[] {
  const { rows, command, total, others = [] } = list;
  if (rows.length === 0) return [flow([toEmptyWords(list.view) + toOtherWords(others)])];
  const lines = paper.width < TABLE_WIDTH ? drawNarrow(list) : drawTable(list, paper);
  // A pipe gets only the list.
  if (paper.width === Number.POSITIVE_INFINITY) return lines;
  const more =
    total > rows.length ? ` ${toCount(total - rows.length)} more: --limit ${Math.min(total, MAX_LIMIT)}.` : '';
  const [first] = rows;
  return [
    flow([['quiet', toHeading(list)]]),
    EMPTY,
    ...lines,
    EMPTY,
    flow([['quiet', `For details: ${command} ${first?.digest ?? '<digest>'}.${more}`]]),
  ];
}

function toHeading({ view: { state, sort }, total }: ListToDraw): string {
  const incidents = total === 1 ? 'incident' : 'incidents';
  const of = state === 'all' ? incidents : `${state} ${incidents}`;
  const order = SORTS.find(([value]) => value === sort)?.[1] ?? sort;
  return `${toCount(total)} ${of}, sorted by: ${order}`;
}

function toEmptyWords({ state, search, side, kind, route, release, environment, assignee }: ViewShape): string {
  const isFiltered = [search, side, kind, route, release, environment, assignee].some((text) => text !== '');
  if (isFiltered) return 'No incidents match.';
  return state === 'all' ? 'No incidents yet.' : `No ${state} incidents.`;
}

function toOtherWords(others: readonly string[]): string {
  return others.length === 0
    ? ''
    : ` Other environments: --environment ${others.map(toClean).join(', --environment ')}.`;
}

interface Column {
  readonly head: string;
  readonly align: 'left' | 'right';
  readonly style?: Style;
  readonly read: (row: IncidentRow) => string;
  /** The greatest width (columns). */
  readonly max?: number;
}

function drawTable({ rows, now, view }: ListToDraw, { width }: Paper): Line[] {
  const columns = chooseColumns(now, view, width);
  const widths = columns.map(({ head, read, max = Number.POSITIVE_INFINITY }) =>
    Math.min(max, Math.max(...[head, ...rows.map(read)].map((text) => toWidth(toClean(text))))),
  );
  const toCells = (read: (column: Column) => string) =>
    columns.map((column, index) => {
      const size = widths[index] ?? 0;
      return `${padToWidth(cutToWidth(toClean(read(column)), size), size, column.align)}  `;
    });
  const head = toCells((column) => column.head).join('');
  return [
    cut([['quiet', `${head}WHAT`]]),
    ...rows.map((row) => {
      const cells = toCells((column) => column.read(row));
      return cut([...cells.map((text, index) => toPiece(text, columns[index]?.style)), ...toWhat(row)]);
    }),
  ];
}

function toPiece(text: string, style: Style | undefined): Piece {
  return style ? [style, text] : text;
}

function chooseColumns(now: number, { state, span }: ViewShape, width: number): Column[] {
  const isWide = width >= WHERE_WIDTH;
  const hasChart = width >= CHART_WIDTH && width !== Number.POSITIVE_INFINITY;
  const columns: (Column | false)[] = [
    { head: 'DIGEST', align: 'left', style: 'address', read: ({ digest }) => digest },
    { head: 'LAST', align: 'right', read: ({ lastAt }) => toAgo(lastAt, now) },
    { head: 'TIMES', align: 'right', style: 'strong', read: ({ counts }) => toCount(counts.server + counts.browser) },
    isWide && { head: 'VISITORS', align: 'right', read: ({ visitors = 0 }) => (visitors > 0 ? toCount(visitors) : '') },
    state === 'all' && { head: 'STATE', align: 'left', read: ({ status }) => STATE_WORDS[status.state] },
    hasChart && {
      head: span === '24h' ? '24 HOURS' : '14 DAYS',
      align: 'left',
      style: 'warning',
      read: ({ chart }) => toBars(chart.counts),
    },
    isWide && {
      head: 'WHERE',
      align: 'left',
      style: 'quiet',
      read: ({ place }) => toPlaceWords(place),
      max: width === Number.POSITIVE_INFINITY ? width : MAX_PLACE,
    },
  ];
  return columns.filter((column) => column !== false);
}

function drawNarrow({ rows, now }: ListToDraw): Line[] {
  return rows.flatMap((row) => {
    const times = `${toCount(row.counts.server + row.counts.browser)}×`;
    return [
      cut([['address', row.digest], '  ', ['strong', times], `  ${toAgo(row.lastAt, now)}`]),
      cut(['  ', ...toWhat(row)]),
    ];
  });
}

function toWhat({ title, status, assignee }: IncidentRow): Piece[] {
  return [
    ...(status.isRegression ? [['bad', 'came back: '] as const] : []),
    title,
    ...(assignee === undefined ? [] : [['quiet', ` (${assignee})`] as const]),
  ];
}

/** Returns the file's name, the line and the function. The full path is only in the incident's details. */
function toPlaceWords({ file, line, function: name, route }: PlaceShape): string {
  if (file === undefined) return route ?? '';
  const base = file.split('/').at(-1) ?? file;
  const short = line === undefined ? base : `${base}:${line}`;
  return name ? `${short} ${name}` : short;
}

const BARS = ' ▁▂▃▄▅▆▇█';

/** Draws counts as a small chart, in eighths of the highest. */
export function toBars(counts: readonly number[]): string {
  const highest = Math.max(...counts, 1);
  return counts.map((count) => BARS[Math.ceil((count / highest) * 8)] ?? ' ').join('');
}
