import type {
  BreadcrumbShape,
  ChangeShape,
  CommitShape,
  ErrorShape,
  FeedbackShape,
  IncidentData,
  MissedShape,
  OccurrenceShape,
  RequestShape,
  StatusShape,
  WholeShape,
} from '../../../shared/desk/shapes.ts';
import { KIND_WORDS, MISSED_WORDS, STATE_WORDS } from '../../../shared/desk/words.ts';
import { toAgo, toCount, toDuration, toExactTime, toPlural } from '../../../shared/words.ts';
import { toClean, toCleanLines } from '../../terminal/clean-text.ts';
import { drawPairs, drawSection } from '../../terminal/draw-section.ts';
import { EMPTY, flow, type Line, type Piece, type Style } from '../../terminal/paint.ts';
import { padToWidth, toWidth } from '../../terminal/text-width.ts';
import { toBars } from './draw-list.ts';
import { drawErrors } from './draw-stack.ts';
import { drawStory } from './draw-story.ts';

export type IncidentToDraw = Omit<IncidentData, 'operator'>;

type Pair = readonly [name: string, value: string];

/** The most entries that a section lists (counts). */
const MAX_CRUMBS = 30;
const MAX_RELEASES = 8;
const MAX_FEEDBACK = 10;
const MAX_CHANGES = 15;

/** Draws an incident, the most useful parts first: what failed and where, one occurrence, then counts and changes. */
export function drawIncident(data: IncidentToDraw): Line[] {
  const { shown, now } = data;
  return [
    ...drawHead(data),
    ...drawShown(data),
    ...(shown?.whole ? drawWhole(shown.whole, shown, now) : []),
    ...drawSection('How often', drawCounts(data)),
    ...drawSection('Releases', drawReleases(data)),
    ...drawSection(
      'What visitors said',
      data.feedback.slice(0, MAX_FEEDBACK).flatMap((one) => drawFeedback(one, now)),
    ),
    ...drawSection(
      'Notes and changes',
      data.changes.slice(0, MAX_CHANGES).flatMap((one) => drawChange(one, now)),
    ),
    ...drawSection(
      'Similar',
      data.similar.map(({ digest, title, state, count }) =>
        flow([['address', digest], `  ${title} `, ['quiet', `${state}, ${toCount(count)}×`]], 10),
      ),
    ),
  ];
}

function drawHead(data: IncidentToDraw): Line[] {
  const { digest, kind, title, message, place, status, assignee, merged, commit, now, shown } = data;
  const where = place.file === undefined ? '' : place.line === undefined ? place.file : `${place.file}:${place.line}`;
  return [
    flow(
      [
        ['address', digest],
        '  ',
        ...drawStatus(status, now),
        ['quiet', `  ${shown?.whole?.level === 'warning' ? 'Warning' : KIND_WORDS[kind]}`],
      ],
      2,
    ),
    flow([['title', title]]),
    // The title often has one line of the message.
    ...(title.includes(message) ? [] : toCleanLines(message).map((line) => flow([line]))),
    ...drawPairs(
      [
        ['Where', [where, place.function ?? ''].filter(Boolean).join('  ')] as const,
        ['Route', place.route ?? ''] as const,
        ['Likely commit', commit ? toCommitWords(commit, now) : ''] as const,
        ['Assigned to', assignee ?? ''] as const,
        ['Merged digests', merged.join(', ')] as const,
      ].filter(([, value]) => value !== ''),
    ),
  ];
}

function toCommitWords({ hash, subject, author, at, file, line }: CommitShape, now: number): string {
  return `${hash.slice(0, 9)} “${subject}” by ${author}, ${toAgo(at, now)}, which changed ${file}:${line}`;
}

const STATE_STYLES: Readonly<Record<StatusShape['state'], Style>> = { open: 'bad', resolved: 'good', ignored: 'quiet' };

function drawStatus(status: StatusShape, now: number): Piece[] {
  const { state, isRegression, isForNext, ignoredUntil, ignoredUntilMore, changedAt, changedBy } = status;
  const how = [
    isRegression && 'came back after it was resolved',
    isForNext && 'in the next release',
    ignoredUntil !== undefined && `until ${toExactTime(ignoredUntil)}`,
    ignoredUntilMore !== undefined && `until ${toCount(ignoredUntilMore)} more within an hour`,
    changedBy !== undefined && `by ${changedBy}`,
    changedAt !== undefined && toAgo(changedAt, now),
  ].filter(Boolean);
  return [[STATE_STYLES[state], STATE_WORDS[state]], ...(how.length > 0 ? [` (${how.join(', ')})`] : [])];
}

function drawShown({ shown, missed, digest, older, newer, now }: IncidentToDraw): Line[] {
  if (!shown) {
    const words = 'No stored occurrences. They are deleted when they are too old or the store is full.';
    return [
      EMPTY,
      flow([['quiet', missed ? `${missed.occurrence} is not stored, and neither is any other occurrence.` : words]]),
    ];
  }
  const { occurrence, at, side, release } = shown;
  const steps = [older && `older ${digest}-${older}`, newer && `newer ${digest}-${newer}`].filter(Boolean).join(', ');
  return [
    EMPTY,
    ...(missed ? [flow([['warning', toMissedWords(missed)]])] : []),
    flow([
      ['address', `${digest}-${occurrence}`],
      `  ${toAgo(at, now)}, ${toExactTime(at)}, in the ${side}${release ? `, ${release}` : ''}`,
    ]),
    ...(steps ? [flow([['quiet', steps]])] : []),
    ...(shown.whole
      ? []
      : [
          flow([['quiet', 'Sampled out: only the address and the ids of this occurrence were kept.']]),
          ...drawIds(shown),
        ]),
  ];
}

function toMissedWords({ occurrence, state, at, requestId }: MissedShape): string {
  const when = at === undefined ? '' : `, ${toExactTime(at)}`;
  const request = requestId === undefined ? '' : `, request ${requestId}`;
  return `${occurrence}${when}${request} ${MISSED_WORDS[state]}`;
}

function drawIds({ requestId, visitor, build }: OccurrenceShape, whole?: WholeShape): Line[] {
  return drawPairs(
    [
      ['Request', requestId ?? ''] as const,
      ['Trace', whole?.traceId ?? ''] as const,
      ['Trace link', whole?.traceLink ?? ''] as const,
      ['Span', whole?.spanId ?? ''] as const,
      ['Failed', whole?.origin ?? ''] as const,
      ['Level', whole?.level ?? ''] as const,
      ['Build', build] as const,
      ['Visitor', visitor ?? ''] as const,
      ...(whole?.tags ?? []),
    ].filter(([, value]) => value !== ''),
  );
}

function drawWhole(whole: WholeShape, shown: OccurrenceShape, now: number): Line[] {
  const { story, errors, components, request, breadcrumbs, extra, cut } = whole;
  return [
    ...(story ? drawStory(story, now) : []),
    ...drawSection('Stack', drawErrors(errors)),
    ...drawSection(
      'Components around it',
      components.map(({ name, place, isOwn }) =>
        flow(isOwn ? [`  ${name}  `, ['address', place]] : [['quiet', `  ${name}  ${place}`]], 4),
      ),
    ),
    ...(request ? drawSection('Request', drawPairs(toRequestPairs(request, shown.route))) : []),
    ...(breadcrumbs.length > 0 ? drawSection('What led to it', drawCrumbs(breadcrumbs, shown.at, errors)) : []),
    ...drawSection('Ids and tags', drawIds(shown, whole)),
    ...drawSection('Extra data', drawPairs(extra)),
    ...(cut.length > 0 ? [flow([['quiet', `Cut to fit the limits: ${cut.join(', ')}.`]])] : []),
  ];
}

function toRequestPairs({ method, url, referrer, agent, headers }: RequestShape, route: string | undefined): Pair[] {
  return [
    [method, url],
    ...(route === undefined ? [] : [['Route', route] as const]),
    ...(referrer === undefined ? [] : [['From', referrer] as const]),
    ...(agent ? [['Browser', agent.words] as const, ['User agent', agent.raw] as const] : []),
    ...headers,
  ];
}

/** Draws breadcrumbs, oldest first, with the failure at the end. */
function drawCrumbs(crumbs: readonly BreadcrumbShape[], failedAt: number, errors: readonly ErrorShape[]): Line[] {
  const some = crumbs.slice(-MAX_CRUMBS);
  const before = crumbs.length - some.length;
  const [thrown] = errors;
  const rows = some.map(({ at, category, message, level, data }) => ({
    when: toOffset(at, failedAt),
    category: toClean(category),
    words: [message, ...data.map(([name, value]) => `${name}=${value}`)].filter(Boolean).join(' '),
    style: CRUMB_STYLES[level],
  }));
  const end = { when: '0', category: 'failure', words: thrown ? `${thrown.class}: ${thrown.message}` : 'It failed.' };
  const all = [...rows, { ...end, style: 'bad' as const }];
  const sizes = [Math.max(...all.map(({ when }) => when.length)), Math.max(...all.map((row) => toWidth(row.category)))];
  const indent = (sizes[0] ?? 0) + (sizes[1] ?? 0) + 4;
  return [
    ...(before > 0 ? [flow([['quiet', `${toPlural(before, 'earlier breadcrumb')} not shown`]])] : []),
    ...all.map(({ when, category, words, style }) => {
      const [first = '', ...rest] = toCleanLines(words);
      const text = rest.length > 0 ? `${first} …` : first;
      const head = `${padToWidth(when, sizes[0] ?? 0, 'right')}  ${padToWidth(category, sizes[1] ?? 0)}  `;
      return flow([['quiet', head], style ? [style, text] : text], indent);
    }),
  ];
}

const CRUMB_STYLES: Readonly<Record<BreadcrumbShape['level'], Style | undefined>> = {
  debug: 'quiet',
  info: undefined,
  warning: 'warning',
  error: 'bad',
};

/** `-3 min 2 s` */
function toOffset(at: number, failedAt: number): string {
  return `${at > failedAt ? '+' : '-'}${toDuration(Math.abs(failedAt - at))}`;
}

function drawCounts({ counts, visitors, firstAt, lastAt, now, day, fortnight }: IncidentToDraw): Line[] {
  const sides = [
    counts.server > 0 && `${toCount(counts.server)} in the server`,
    counts.browser > 0 && `${toCount(counts.browser)} in browsers`,
    visitors !== undefined && toPlural(visitors, 'visitor'),
  ].filter((words) => words !== false);
  return [
    ...drawPairs([
      ['Times', sides.join(', ')],
      ['First', `${toAgo(firstAt, now)}, ${toExactTime(firstAt)}`],
      ['Last', `${toAgo(lastAt, now)}, ${toExactTime(lastAt)}`],
    ]),
    ...[['24 hours', day] as const, ['14 days', fortnight] as const].map(([name, { counts: bars }]) =>
      flow([['quiet', `${name.padEnd(8)}  `], ['warning', `▕${toBars(bars)}▏`], ` ${toCount(sum(bars))}`]),
    ),
  ];
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** Draws the latest releases, and counts the earlier ones. */
function drawReleases({ releases, now }: IncidentToDraw): Line[] {
  const some = releases.slice(-MAX_RELEASES);
  const before = releases.length - some.length;
  return [
    ...(before > 0 ? [flow([['quiet', `${toPlural(before, 'earlier release')} not shown`]])] : []),
    ...some.map(({ release, firstAt, count, isRegression }) =>
      flow(
        [
          release || 'unnamed',
          ['quiet', `  ${toCount(count)}×, first ${toAgo(firstAt, now)}`],
          ...(isRegression ? [['bad', '  regressed here'] as const] : []),
        ],
        4,
      ),
    ),
  ];
}

function drawFeedback({ at, text, name, email, url }: FeedbackShape, now: number): Line[] {
  const who = [name, email, url].filter(Boolean).join(', ');
  return [
    flow([['quiet', `${toAgo(at, now)}${who ? `, ${who}` : ''}`]], 2),
    ...toCleanLines(text).map((line) => flow([`  ${line}`], 2)),
  ];
}

function drawChange({ at, by, words, note }: ChangeShape, now: number): Line[] {
  return [
    flow([['quiet', `${toAgo(at, now)}  `], `${by} ${words}`], 4),
    ...(note ? toCleanLines(note.text).map((line) => flow([`  ${line}`], 2)) : []),
  ];
}
