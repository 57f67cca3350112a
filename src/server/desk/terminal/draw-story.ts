import { toGrowthWords } from '../../../shared/desk/growth-words.ts';
import type { StoryShape } from '../../../shared/desk/shapes.ts';
import { toAgo, toDuration, toExactTime, toMebibytes } from '../../../shared/words.ts';
import { toCleanLines } from '../../terminal/clean-text.ts';
import { drawPairs, drawSection } from '../../terminal/draw-section.ts';
import { flow, type Line } from '../../terminal/paint.ts';

/** Draws what only incidents of this kind have. */
export function drawStory(story: StoryShape, now: number): Line[] {
  switch (story.kind) {
    case 'hydration':
      return drawSection('What differed', [
        ...(story.meaning === '' ? [] : [flow([story.meaning])]),
        ...(story.said === '' ? [] : toCleanLines(story.said).map(drawDifference)),
      ]);
    case 'unclean-death':
      return drawDeath(story, now);
    case 'blocked-loop': {
      const since = story.since === undefined ? '' : ` from ${toExactTime(story.since)}`;
      return drawSection('The event loop was blocked', [
        flow([['bad', toDuration(story.ms)], `${since}. The stack below is the code that was running.`]),
      ]);
    }
    case 'report':
      return drawSection('What the browser reported', drawPairs(story.facts));
  }
}

/** Colours a line of a diff: `+` is what the browser rendered, `-` what the server had sent. */
function drawDifference(line: string): Line {
  if (/^\s*\+/.test(line)) return flow([['good', line]], 2);
  return flow(/^\s*-/.test(line) ? [['bad', line]] : [line], 2);
}

function drawDeath(story: Extract<StoryShape, { kind: 'unclean-death' }>, now: number): Line[] {
  const { lastHeardAt, startedAt, memory, blockedFor, growth, inFlight } = story;
  const facts: [string, string][] = [
    ['Last heartbeat', `${toAgo(lastHeardAt, now)}, ${toExactTime(lastHeardAt)}`],
    ...(startedAt === undefined ? [] : [['Uptime', toDuration(lastHeardAt - startedAt)] as [string, string]]),
    ...(memory === undefined ? [] : [['Memory', toMebibytes(memory)] as [string, string]]),
    ...(blockedFor === undefined ? [] : [['Blocked for', toDuration(blockedFor)] as [string, string]]),
  ];
  const requests =
    inFlight.length === 0
      ? [flow(['No requests were in flight at the last heartbeat.'])]
      : [
          flow(['Requests in flight, longest first:']),
          ...inFlight.map(({ ms, method, route, requestId }) =>
            flow([`  ${toDuration(ms)}  ${method} ${route}  `, ['quiet', requestId]], 4),
          ),
        ];
  return drawSection('How it ended', [
    ...drawPairs(facts),
    flow(['It was killed, ran out of memory, or the machine stopped. No error was thrown.']),
    ...(growth ? [flow([toGrowthWords(growth)])] : []),
    ...requests,
  ]);
}
