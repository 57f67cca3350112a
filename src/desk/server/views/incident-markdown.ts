import { KIND_WORDS, STATE_WORDS } from '../../shared/choices.ts';
import { chooseOpen, groupFrames, toFrameText, toPackages } from '../../shared/frames.ts';
import type {
  ErrorShape,
  FrameShape,
  FullShape,
  IncidentRow,
  IncidentShape,
  LocationShape,
  OccurrenceShape,
  ReleaseShape,
  StoryShape,
} from '../../shared/shapes.ts';
import {
  MISSED_WORDS,
  toAgo,
  toCount,
  toDuration,
  toExactTime,
  toHint,
  toMebibytes,
  toPlural,
  toStateDetail,
  toStateWord,
} from '../../shared/words.ts';
import { toClean } from './clean-text.ts';

type Pair = readonly [name: string, value: string | 0 | undefined];

/** The most listed entries of each kind (a count). */
const MOST = 20;

/**
 * Describes an incident for a terminal, a chat or a coding agent: what failed and where, one occurrence, then counts and
 * changes. Text of visitors is always in code, so that it cannot become a heading, a link or an image.
 */
export function toIncidentMarkdown(incident: IncidentShape, now: number): string {
  const { digest, kind, title, message, place, status, commit, counts, visitors, shown, missed } = incident;
  const detail = [
    toStateDetail(status),
    status.isRegression ? 'happened again after it was resolved' : '',
    status.changedBy === undefined ? '' : `by ${status.changedBy}`,
    status.changedAt === undefined ? '' : toAgo(status.changedAt, now),
  ].filter((words) => words !== '');
  const words = title.includes(message) ? title : `${title}\n${message}`;
  return finish([
    `# ${digest}`,
    toBlock(words),
    toList([
      ['State', `${STATE_WORDS[status.state]}${detail.length > 0 ? ` (${detail.join(', ')})` : ''}`],
      ['Kind', shown?.full?.level === 'warning' ? 'Warning' : KIND_WORDS[kind]],
      ['Where', toLocationText(place)],
      ['Route', place.route && toCode(place.route)],
      ['Environment', toCode(incident.environment)],
      [
        'Happened',
        `${toPlural(counts.server + counts.browser, 'time')}${visitors ? `, ${toPlural(visitors, 'visitor')}` : ''}`,
      ],
      ['First seen', `${toExactTime(incident.firstAt)} (${toAgo(incident.firstAt, now)})`],
      ['Last seen', `${toExactTime(incident.lastAt)} (${toAgo(incident.lastAt, now)})`],
      ['Releases', incident.releases.slice(-MOST).map(toRelease).join(', ')],
      [
        'Likely caused by',
        commit &&
          `${toCode(`${commit.hash.slice(0, 9)} ${commit.subject}`)} by ${toCode(commit.author)}, ${toAgo(commit.at, now)}, which changed ${toCode(`${commit.file}:${commit.line}`)}`,
      ],
      ['Advice', toHint(incident)],
    ]),
    missed && `The occurrence ${missed.occurrence} ${MISSED_WORDS[missed.state]}`,
    shown && toOccurrence(shown, digest),
    toSection(
      'Other occurrences',
      incident.recent
        .filter(({ occurrence }) => occurrence !== shown?.occurrence)
        .map(
          ({ occurrence, at, side, release }) =>
            `- ${digest}-${occurrence}: ${toExactTime(at)}, ${side}, ${toCode(release) || 'unknown release'}`,
        ),
    ),
    toSection(
      'Notes and changes',
      incident.changes
        .slice(0, MOST)
        .map(
          ({ at, by, words: done, note }) =>
            `- ${toAgo(at, now)}, ${toCode(by)} ${toCode(done)}${note ? `: ${toCode(note.text)}` : ''}`,
        ),
    ),
  ]);
}

/** Lists incidents. @param total how many match, listed or not @param most how many can be listed */
export function toListMarkdown(
  rows: readonly IncidentRow[],
  { heading, total, most, now }: Readonly<{ heading: string; total: number; most: number; now: number }>,
): string {
  const rest = total - rows.length;
  return finish([
    `# ${toPlural(total, 'incident')} ${heading}`,
    ...rows.map(({ digest, title, place, status, counts, visitors, lastAt, lastRelease }) =>
      [
        `- **${digest}** ${toCode(title)}`,
        `  ${toStateWord(status)}, ${toPlural(counts.server + counts.browser, 'time')}, ${visitors ? `${toPlural(visitors, 'visitor')}, ` : ''}last ${toAgo(lastAt, now)} in ${toCode(lastRelease) || 'an unknown release'}`,
        ...(toLocationText(place) || place.route
          ? [`  ${[toLocationText(place), place.route && toCode(place.route)].filter(Boolean).join(' on ')}`]
          : []),
      ].join('\n'),
    ),
    rest > 0 && `${toCount(rest)} more: \`${rows.length < most ? `--limit ${Math.min(total, most)}` : '--search'}\``,
  ]);
}

function toOccurrence(shown: OccurrenceShape, digest: string): string {
  const { occurrence, at, side, release, build, requestId, visitor, full } = shown;
  const facts: Pair[] = [
    ['When', toExactTime(at)],
    ['Side', `${side}${full ? `, ${full.origin}` : ''}`],
    ['Release', release && `${toCode(release)}, build ${toCode(build)}`],
    ['Request', requestId && toCode(requestId)],
    ['Trace', full?.traceId && toCode(full.traceId)],
    ['Visitor', visitor && toCode(visitor)],
  ];
  return join([`## Occurrence ${digest}-${occurrence}`, toList(facts), ...(full ? toFull(full) : [])]);
}

function toFull({ errors, story, request, components, breadcrumbs, tags, extra, test, cut }: FullShape) {
  const sources = errors.flatMap((error) => [...chooseOpen(error)]).slice(0, MOST);
  return [
    story && toStory(story),
    errors.length > 0 && toBlock(errors.flatMap(toErrorLines).join('\n')),
    ...sources.map(toSource),
    toSection(
      'Request',
      request && [
        `- ${toCode(`${request.method} ${request.url}`)}`,
        ...toLines([
          ['Referrer', request.referrer && toCode(request.referrer)],
          ['Browser', request.agent && toCode(request.agent.words)],
          ...toCodes(request.headers),
        ]),
      ],
    ),
    toSection('What led to it', breadcrumbs.slice(-MOST).map(toBreadcrumb)),
    toSection(
      'Components',
      components.map(({ name, place }) => `- ${toCode(name)}${place && ` at ${toCode(place)}`}`),
    ),
    toSection('Tags', toLines(toCodes(tags))),
    toSection('More', toLines(toCodes(extra))),
    toSection('Test', test && [`A test that fails in the same way: \`--test\` writes ${toCode(test.file)}.`]),
    cut.length > 0 && `Cut to fit the limits: ${cut.map(toCode).join(', ')}.`,
  ];
}

function toBreadcrumb({ at, category, level, message, data }: FullShape['breadcrumbs'][number]): string {
  const details = data.map(([name, value]) => `${name}=${value}`).join(' ');
  const words = [category, message, details].filter((part) => part !== '').join(' ');
  return `- ${toExactTime(at).slice(11, 19)} ${level === 'info' ? '' : `${level} `}${toCode(words)}`;
}

/** An error with the frames of the app. Other frames are folded. */
function toErrorLines(error: ErrorShape, index: number): string[] {
  const { class: name, message, code, members, frames } = error;
  const groups = groupFrames(frames, chooseOpen(error)).map(({ isFolded, frames: group }) =>
    isFolded ? `    ${toPlural(group.length, 'frame')} of ${toPackages(group)}` : group.map(toFrameText).join('\n'),
  );
  const said = [name, message].filter((part) => part !== '').join(': ');
  return [
    `${index > 0 ? 'Caused by ' : ''}${said}${code === undefined ? '' : ` (${code})`}`,
    ...(members.length > 0 ? [`    Errors in it: ${members.join(', ')}`] : []),
    ...groups,
  ];
}

/** The lines of source around a frame, with a mark at the line itself. */
function toSource({ file, line, source }: FrameShape): string | undefined {
  if (!source) return undefined;
  const size = String(source.start + source.lines.length).length;
  const lines = source.lines.map((text, index) => {
    const number = source.start + index;
    return `${number === line ? '>' : ' '} ${String(number).padStart(size)} ${text}`;
  });
  return join([toCode(`${file}:${line}`), toBlock(lines.join('\n'))]);
}

function toStory(story: StoryShape): string | undefined {
  switch (story.kind) {
    case 'hydration':
      return join([story.meaning, story.said && toBlock(story.said)]);
    case 'unclean-death':
      return join([
        'The process was killed, ran out of memory, or the machine stopped. No error was thrown.',
        toList([
          ['Last heartbeat', toExactTime(story.lastHeardAt)],
          ['Uptime', story.startedAt && toDuration(story.lastHeardAt - story.startedAt)],
          ['Memory', story.memory && toMebibytes(story.memory)],
          ['Heap', story.heap && `${toMebibytes(story.heap.used)} of ${toMebibytes(story.heap.limit)}`],
          ['Blocked for', story.blockedFor && toDuration(story.blockedFor)],
        ]),
        toRequests(story.inFlight),
      ]);
    case 'blocked-loop':
      return toRequests(story.inFlight);
  }
}

function toRequests(inFlight: Extract<StoryShape, { kind: 'blocked-loop' }>['inFlight']): string | undefined {
  return toSection(
    'Requests in flight, newest first',
    inFlight
      .slice(0, MOST)
      .map(
        ({ requestId, method, route, ms }) =>
          `- ${toDuration(ms)} ${toCode(`${method} ${route}`)} ${toCode(requestId)}`,
      ),
  );
}

function toRelease({ release, count, isRegression }: ReleaseShape): string {
  return `${toCode(release) || 'unknown'} (${toCount(count)}${isRegression ? ', regression' : ''})`;
}

function toLocationText({ file, line, function: name }: LocationShape): string {
  if (file === undefined) return '';
  const location = toCode(line === undefined ? file : `${file}:${line}`);
  return name ? `${location} in ${toCode(name)}` : location;
}

function toCodes(pairs: readonly (readonly [name: string, value: string])[]): Pair[] {
  return pairs.map(([name, value]) => [toCode(name), toCode(value)]);
}

function toLines(pairs: readonly Pair[]): string[] {
  return pairs.flatMap(([name, value]) => (value ? [`- ${name}: ${value}`] : []));
}

function toList(pairs: readonly Pair[]): string {
  return toLines(pairs).join('\n');
}

/** Returns nothing for an empty section. */
function toSection(title: string, lines: readonly string[] = []): string | undefined {
  return lines.length > 0 ? `### ${title}\n\n${lines.join('\n')}` : undefined;
}

/** One line of code, fenced with more backticks than it contains (CommonMark 6.1). */
function toCode(text: string): string {
  const line = toClean(text).replaceAll('\n', ' ').trim();
  if (line === '') return '';
  const fence = toFence(line, 1);
  return line.startsWith('`') || line.endsWith('`') ? `${fence} ${line} ${fence}` : `${fence}${line}${fence}`;
}

/** A block of code, fenced with more backticks than it contains (CommonMark 4.5). */
function toBlock(text: string): string {
  const lines = toClean(text);
  const fence = toFence(lines, 3);
  return `${fence}\n${lines}\n${fence}`;
}

function toFence(text: string, least: number): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  return '`'.repeat(Math.max(least, longest + 1));
}

type Part = string | false | undefined;

function join(parts: readonly Part[]): string {
  return parts.filter((part) => part !== undefined && part !== false && part !== '').join('\n\n');
}

function finish(parts: readonly Part[]): string {
  return `${join(parts)}\n`;
}
