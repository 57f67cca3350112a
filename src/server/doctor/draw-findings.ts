import { toPlural } from '../../shared/words.ts';
import { drawSection } from '../terminal/draw-section.ts';
import { EMPTY, flow, type Line, type Style } from '../terminal/paint.ts';
import { padToWidth } from '../terminal/text-width.ts';
import { countMarks, type Finding, type FindingGroup, type Mark } from './finding.ts';

const STYLES: Readonly<Record<Mark, Style>> = { ok: 'good', warning: 'warning', wrong: 'bad', unknown: 'quiet' };

/** Columns in front of a text. */
const MARK_WIDTH = 'warning'.length + 2;
const PLACE_WIDTH = 'HAProxy'.length + 2;

export function drawFindings(title: string, groups: readonly FindingGroup[]): Line[] {
  return [
    flow([['title', title]]),
    ...groups.flatMap(({ heading, findings }) => drawSection(heading, findings.flatMap(drawFinding))),
    EMPTY,
    flow([toSummary(groups)]),
  ];
}

function drawFinding({ about, mark, found, advice, remedies = [] }: Finding): Line[] {
  const inset = ' '.repeat(MARK_WIDTH);
  return [
    flow([[STYLES[mark], padToWidth(mark, MARK_WIDTH)], ['strong', `${about}: `], found], MARK_WIDTH),
    ...(advice === undefined ? [] : [flow([inset, advice], MARK_WIDTH)]),
    ...remedies.map(({ place, line }) =>
      flow([`${inset}  `, ['quiet', padToWidth(place, PLACE_WIDTH)], ['address', line]], MARK_WIDTH + 2 + PLACE_WIDTH),
    ),
  ];
}

function toSummary(groups: readonly FindingGroup[]): string {
  const { ok, warning, wrong, unknown } = countMarks(groups);
  const parts = [
    `${wrong} wrong`,
    toPlural(warning, 'warning'),
    `${ok} ok`,
    ...(unknown > 0 ? [`${unknown} not checked`] : []),
  ];
  return `${parts.join(', ')}.`;
}
