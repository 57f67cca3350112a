import { Hour } from '../../../shared/units.ts';
import type { ChartShape, MarkShape } from '../shapes.ts';
import { toCount, toExactTime, toPlural } from '../words.ts';
import styles from './chart.module.css';

interface ChartProps {
  readonly of: ChartShape;
  /** `24 hours`, `14 days` */
  readonly span: string;
}

/** Height of the large chart's bars, and of the release names above them (px). */
const BARS = 72;
const NAMES = 18;

/** Counts over time, with the releases of that time. Positions are percentages, so that the chart fits any width. */
export function Chart({ of: chart, span, marks }: ChartProps & { readonly marks: readonly MarkShape[] }) {
  const { start, step, counts } = chart;
  const end = start + step * counts.length;
  const shown = marks.filter(({ at }) => at >= start && at < end);
  return (
    <figure className={styles.chart}>
      <svg width="100%" height={NAMES + BARS + 1} role="img" aria-label={toLabel(chart, span, shown)}>
        {placeMarks(shown, start, end).map((mark) => (
          <Mark key={mark.release + mark.at} {...mark} />
        ))}
        <Bars of={chart} height={BARS} top={NAMES} isTitled />
      </svg>
      <figcaption className={styles.caption}>
        <span>{toBarName(start, step)}</span>
        <span>{`peak: ${toCount(Math.max(0, ...counts))}`}</span>
        <span>now</span>
      </figcaption>
    </figure>
  );
}

/** A small chart for a row of a list. */
export function SmallChart({ of: chart, span }: ChartProps) {
  return (
    <svg className={styles.small} width="100%" height={SMALL + 1} role="img" aria-label={toLabel(chart, span, [])}>
      <Bars of={chart} height={SMALL} top={0} />
    </svg>
  );
}

const SMALL = 22;

interface BarsProps {
  readonly of: ChartShape;
  /** In pixels. */
  readonly height: number;
  readonly top: number;
  /** Whether each bar says what it counts. */
  readonly isTitled?: boolean;
}

/** Bars of at least 1.5 px, so that a single occurrence is visible. */
function Bars({ of: { start, step, counts }, height, top, isTitled }: BarsProps) {
  const most = Math.max(1, ...counts);
  const ground = top + height;
  return (
    <>
      {counts.map((count, index) => {
        const tall = count > 0 && Math.max(1.5, (count / most) * height);
        return tall ? (
          <rect
            key={index}
            className={styles.bar}
            x={toPercent(index / counts.length)}
            width={toPercent(0.8 / counts.length)}
            y={round(ground - tall)}
            height={round(tall)}
          >
            {isTitled && <title>{`${toBarName(start + index * step, step)}: ${toPlural(count, 'time')}`}</title>}
          </rect>
        ) : null;
      })}
      <line className={styles.ground} x1="0" x2="100%" y1={ground + 0.5} y2={ground + 0.5} />
    </>
  );
}

interface PlacedMark {
  readonly release: string;
  /** From 0 to 1. */
  readonly at: number;
  /** Whether there is room for the name. */
  readonly isNamed: boolean;
}

/** Names the latest releases if there is not enough room for all names. */
function placeMarks(marks: readonly MarkShape[], start: number, end: number): PlacedMark[] {
  let free = 1 + ROOM;
  const placed = marks.toReversed().map(({ at, release }) => {
    const place = (at - start) / (end - start);
    const isNamed = free - place >= ROOM;
    if (isNamed) free = place;
    return { release, at: place, isNamed };
  });
  return placed.reverse();
}

/** Longest name of a release (fraction of the width of a narrow chart). */
const ROOM = 0.35;

/** Puts the name on the side with more room. */
function Mark({ at, release, isNamed }: PlacedMark) {
  const isLate = at > 1 - ROOM;
  return (
    <g className={styles.mark}>
      <title>{release}</title>
      <line x1={toPercent(at)} x2={toPercent(at)} y1="4" y2={NAMES + BARS} />
      {isNamed && (
        <text x={toPercent(at)} dx={isLate ? -4 : 4} y="12" textAnchor={isLate ? 'end' : 'start'}>
          {release.length > MAX_NAME ? `${release.slice(0, MAX_NAME).toWellFormed()}…` : release}
        </text>
      )}
    </g>
  );
}

/** Longest name of a release (characters). */
const MAX_NAME = 14;

function toLabel({ counts }: ChartShape, span: string, marks: readonly MarkShape[]): string {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const releases = marks.length > 0 ? ` Releases: ${marks.map((mark) => mark.release).join(', ')}.` : '';
  return `${toPlural(total, 'time')} in ${span}.${releases}`;
}

function toBarName(at: number, step: number): string {
  return step > Hour ? toExactTime(at).slice(0, 10) : toExactTime(at).slice(5, 16);
}

/** Formats a fraction (0 to 1) as a percentage. */
function toPercent(part: number): string {
  return `${round(part * 100)}%`;
}

/** Rounds to two digits: more are not visible. */
function round(value: number): number {
  return Math.round(value * 100) / 100;
}
