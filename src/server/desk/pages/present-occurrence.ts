import type { BreadcrumbShape, ComponentShape, OccurrenceShape, WholeShape } from '../../../shared/desk/shapes.ts';
import type { Breadcrumb, FailureOrigin } from '../../engine/errors/failure.ts';
import type { Occurrence, StoredFailure } from '../store/records.ts';
import { presentErrors, toStackText } from './present-errors.ts';
import { presentRequest } from './present-request.ts';
import { presentStory, TOLD_EXTRA } from './present-story.ts';
import { toLine, toPairs } from './to-pairs.ts';

export interface PresentOptions {
  /** The setting `SOURCE_LINK`. */
  readonly sourceLink: string | undefined;
}

export function presentOccurrence(found: Occurrence, options: PresentOptions): OccurrenceShape {
  const { occurrence, at, side, release, build, route, requestId, visitor, whole } = found;
  return {
    occurrence,
    at,
    side,
    release,
    build,
    ...(route !== undefined && { route }),
    ...(requestId !== undefined && { requestId }),
    ...(visitor !== undefined && { visitor }),
    ...(whole && { whole: presentWhole(whole, options) }),
  };
}

const ORIGIN_WORDS: Readonly<Record<FailureOrigin, string>> = {
  loader: 'while a loader ran',
  action: 'in an action',
  guard: 'in a guard',
  render: 'while the page was rendered',
  late: 'in a late value',
  api: 'in the API',
  step: 'in a step of the server',
  request: 'while the request was read',
  process: 'outside of any request',
  browser: 'in the browser',
};

function presentWhole(failure: StoredFailure, options: PresentOptions): WholeShape {
  const { origin, traceId, spanId, kind, extra = {}, tags = {}, cut = [] } = failure;
  const story = presentStory(failure);
  const request = failure.request && presentRequest(failure.request);
  const told = TOLD_EXTRA[kind] ?? [];
  return {
    origin: ORIGIN_WORDS[origin],
    ...(traceId !== undefined && { traceId }),
    ...(spanId !== undefined && { spanId }),
    errors: presentErrors(failure, options),
    stackText: toStackText(failure),
    ...(story && { story }),
    ...(request && { request }),
    components: presentComponents(failure.componentStack ?? ''),
    breadcrumbs: (failure.breadcrumbs ?? []).map(presentBreadcrumb),
    tags: toPairs(tags),
    extra: toPairs(extra).filter(([name]) => !told.includes(name)),
    cut: cut.map((part) => toLine(part)),
  };
}

function presentBreadcrumb({ at, category, message, level = 'info', data = {} }: Breadcrumb): BreadcrumbShape {
  return { at, category: toLine(category), message: toLine(message), level, data: toPairs(data) };
}

/** React's text: V8 writes `at Cart (https://…:1:2)`, the others `Cart@https://…:1:2`. */
function presentComponents(stack: string): ComponentShape[] {
  return stack.split('\n').flatMap((line): ComponentShape[] => {
    const [, name, place] = /^\s*at (\S+)(?: \((.*)\))?\s*$/.exec(line) ?? /^\s*([^@\s]+)@(.*)$/.exec(line) ?? [];
    return name ? [{ name, place: place ?? '' }] : [];
  });
}
