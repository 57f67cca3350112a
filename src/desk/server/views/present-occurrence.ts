import type { FailureOrigin } from '../../../server/errors/failure.ts';
import { isProductCode } from '../../../shared/whose-code.mjs';
import type { ComponentShape, FullShape, OccurrenceShape } from '../../shared/shapes.ts';
import { type DeskLinks, fillLink } from '../links.ts';
import type { Occurrence, ResolvedFrame, StoredFailure } from '../store/records.ts';
import { presentBreadcrumb } from './present-breadcrumb.ts';
import { presentErrors, toStackText } from './present-errors.ts';
import { presentRequest } from './present-request.ts';
import { presentStory, toUntold } from './present-story.ts';
import { presentTest } from './present-test.ts';
import { toLine, toPairs } from './to-pairs.ts';

export function presentOccurrence(found: Occurrence, links: DeskLinks): OccurrenceShape {
  const { occurrence, at, side, release, build, route, requestId, visitor, full } = found;
  return {
    occurrence,
    at,
    side,
    release,
    build,
    ...(route !== undefined && { route }),
    ...(requestId !== undefined && { requestId }),
    ...(visitor !== undefined && { visitor }),
    ...(full && { full: presentWhole(full, links) }),
  };
}

const ORIGIN_WORDS: Readonly<Record<FailureOrigin, string>> = {
  loader: 'while a loader ran',
  action: 'in an action',
  guard: 'in a guard',
  render: 'while the page was rendered',
  late: 'in a deferred value',
  api: 'in the API',
  step: 'in a server step',
  request: 'while the request was read',
  process: 'outside of any request',
  report: 'reported by your code, which handled it',
  service: 'in a service, such as a background job',
  browser: 'in the browser (unverified)',
};

function presentWhole(failure: StoredFailure, links: DeskLinks): FullShape {
  const { origin, level = 'error', traceId, spanId, tags = {}, cut = [] } = failure;
  const story = presentStory(failure);
  const request = failure.request && presentRequest(failure.request);
  const test = presentTest(failure);
  return {
    origin: ORIGIN_WORDS[origin],
    level,
    ...(traceId !== undefined && { traceId }),
    ...(traceId !== undefined && links.trace && { traceLink: fillLink(links.trace, { traceId }) }),
    ...(spanId !== undefined && { spanId }),
    errors: presentErrors(failure, links.source),
    stackText: toStackText(failure),
    ...(story && { story }),
    ...(request && { request }),
    ...(test && { test }),
    components: (failure.components ?? []).map(presentComponent),
    breadcrumbs: (failure.breadcrumbs ?? []).map(presentBreadcrumb),
    tags: toPairs(tags),
    extra: toPairs(toUntold(failure)),
    cut: cut.map((part) => toLine(part)),
  };
}

/** Presents a component. An element has only a name. Without source maps, the name is the minified one. */
function presentComponent({ file, line, function: name, own }: ResolvedFrame): ComponentShape {
  return { name, place: line > 0 ? `${file}:${line}` : file, isOwn: own && isProductCode(file) };
}
