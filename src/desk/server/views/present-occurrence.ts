import Bowser from 'bowser';
import { isbot } from 'isbot';
import { type Breadcrumb, type FailureOrigin, isProductCode, type RequestRecord } from '#engine/tracker';
import { toStackText } from '../../shared/frames.ts';
import type {
  BreadcrumbShape,
  ComponentShape,
  ErrorShape,
  FrameShape,
  FullShape,
  OccurrenceShape,
  RequestShape,
} from '../../shared/shapes.ts';
import { defined } from '../defined.ts';
import { type DeskLinks, fillLink, toWorkspacePath } from '../links.ts';
import type { Occurrence, ResolvedFrame, StoredFailure } from '../store/records.ts';
import { presentStory, toOtherExtra, toPairs } from './present-story.ts';
import { presentTest } from './present-test.ts';

export function presentOccurrence(found: Occurrence, links: DeskLinks): OccurrenceShape {
  const { key: _key, isFull: _isFull, traceId: _traceId, full, ...facts } = found;
  return defined({ ...facts, full: full && presentFull(full, links) });
}

const ORIGIN_WORDS: Readonly<Record<FailureOrigin, string>> = {
  loader: 'while a loader ran',
  action: 'in an action',
  guard: 'in a guard',
  render: 'while the page was rendered',
  late: 'in a deferred value',
  api: 'in the API',
  step: 'in a server step',
  request: 'in work that the request did not wait for',
  process: 'outside of any request',
  report: 'reported by your code, which handled it',
  service: 'in a service, such as a background job',
  browser: 'in the browser (unverified)',
};

function presentFull(failure: StoredFailure, links: DeskLinks): FullShape {
  const { kind, level = kind === 'server-exit' ? 'fatal' : 'error', traceId, spanId, tags = {}, cut = [] } = failure;
  const errors = presentErrors(failure, links.source);
  return defined({
    origin: presentOrigin(failure),
    level,
    traceId,
    traceLink: traceId && links.trace && fillLink(links.trace, { traceId }),
    spanId,
    errors,
    stackText: toStackText(errors),
    story: presentStory(failure),
    request: failure.request && presentRequest(failure.request),
    test: presentTest(failure),
    components: (failure.components ?? []).map(presentComponent),
    breadcrumbs: (failure.breadcrumbs ?? []).map(presentBreadcrumb),
    tags: toPairs(tags),
    extra: toPairs(toOtherExtra(failure)),
    cut,
  });
}

/** Names the action, because an error without a stack says nothing else. A visitor can post any name. */
function presentOrigin({ origin, request }: StoredFailure): string {
  const { _action: action } = Object(Object(request?.body).fields) as { _action?: { value?: unknown } };
  const name = origin === 'action' && /^[\w.-]{1,100}$/.exec(String(action?.value ?? ''))?.[0];
  return name ? `in the action ${name}` : ORIGIN_WORDS[origin];
}

/** Presents a component. An element has only a name. Without source maps, the name is the minified one. */
function presentComponent({ file, line, function: name, own }: ResolvedFrame): ComponentShape {
  return { name, place: line > 0 ? `${file}:${line}` : file, isProduct: own && isProductCode(file) };
}

/** @param sourceLink the setting `SOURCE_LINK` */
function presentErrors(failure: StoredFailure, sourceLink: string | undefined): ErrorShape[] {
  return failure.errors.map((error, index) => {
    const frames = listFrames(failure, index).map((frame) => presentFrame(frame, failure, sourceLink));
    return { members: [], ...error, frames };
  });
}

/** Resolved by source maps, if those were read. */
function listFrames({ errors, resolved }: StoredFailure, index: number): readonly ResolvedFrame[] {
  return resolved?.[index] ?? errors[index]?.frames.map((frame) => ({ ...frame, own: false })) ?? [];
}

function presentFrame(frame: ResolvedFrame, failure: StoredFailure, sourceLink: string | undefined): FrameShape {
  const { file, line, column, own, context } = frame;
  const { build } = failure;
  const release = failure.release.replace(/-dirty$/, ''); // a commit, which the repository knows
  return defined({
    file,
    line,
    column,
    function: frame.function,
    isOwn: own,
    isEngine: !isProductCode(file),
    isAsync: frame.async === true,
    link:
      own && sourceLink
        ? fillLink(sourceLink, { file: toWorkspacePath(file), line, column, release, build }, { isPath: true })
        : undefined,
    source: context && { start: context.start, lines: dedent(context.lines) },
  });
}

/** Removes the common indentation, because narrow screens have no room for it. */
function dedent(lines: readonly string[]): string[] {
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length);
  const indent = indents.length > 0 ? Math.min(...indents) : 0;
  return lines.map((line) => line.slice(indent));
}

function presentRequest({ method, url, headers = {} }: RequestRecord): RequestShape {
  const all = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const { referer, 'user-agent': agent } = Object.fromEntries(all);
  return defined({
    method,
    url,
    referrer: referer,
    agent: agent === undefined ? undefined : { words: toAgentWords(agent), raw: agent },
    headers: all.filter(([name]) => name !== 'referer' && name !== 'user-agent'),
  });
}

/**
 * Describes a user agent: `Safari 17.4 on iPhone (iOS 17.4)`, `Chrome 128 on Windows`, `Googlebot 2.1, a robot`.
 * Browsers freeze or fake some of it, so this is only what they claim.
 */
function toAgentWords(agent: string): string {
  // Bowser throws for an empty text.
  const { browser, os, platform } = Bowser.parse(agent || '-');
  const name = browser.name && withVersion(browser.name, browser.version);
  if (isbot(agent)) return `${name || /^[\w.-]+(?:\/[\w.]+)?/.exec(agent)?.[0] || 'an unknown program'}, a robot`;
  const system = os.name && (platform.type === 'desktop' ? os.name : withVersion(os.name, os.version));
  const device = platform.model ? `${platform.model} (${system})` : system;
  return `${name || 'an unknown browser'}${device ? ` on ${device}` : ''}`;
}

/** Shortens a version to its first parts: `Chrome 128`, `Safari 17.4`. */
function withVersion(name: string, version = ''): string {
  const short = version.split('.', 2).join('.').replace(/\.0$/, '');
  return short ? `${name} ${short}` : name;
}

/** Presents a breadcrumb. A breadcrumb without a message, as SDKs record them, gets one from its data. */
function presentBreadcrumb({ at, category, message, level = 'info', data = {} }: Breadcrumb): BreadcrumbShape {
  const { words, names } = message === '' ? describeData(category, data) : { words: message, names: [] };
  const pairs = toPairs(data).filter(([name]) => !names.includes(name));
  return { at, category, message: words, level, data: pairs };
}

interface Description {
  readonly words: string;
  /** Data that the words already include. */
  readonly names: readonly string[];
}

function describeData(
  category: string,
  { method, url, status_code: status, from, to }: NonNullable<Breadcrumb['data']>,
): Description {
  if ((category === 'fetch' || category === 'xhr') && url !== undefined) {
    const words = [method, url, status].filter((part) => part !== undefined).join(' ');
    return { words, names: ['method', 'url', 'status_code'] };
  }
  if (category === 'navigation' && to !== undefined) {
    return { words: from === undefined ? `to ${to}` : `from ${from} to ${to}`, names: ['from', 'to'] };
  }
  return { words: '', names: [] };
}
