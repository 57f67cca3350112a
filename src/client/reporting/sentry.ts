import {
  addBreadcrumb,
  BrowserClient,
  breadcrumbsIntegration,
  consoleIntegration,
  createTransport,
  defaultStackParser,
  type ErrorEvent,
  getCurrentScope,
  linkedErrorsIntegration,
  type Scope,
} from '@sentry/react';
import { explainReactError } from '../../shared/rendering/react-errors.ts';
import { isAddress, toOccurrence } from '../../shared/reporting/address.ts';
import { type BrowserReport, type EarlyErrors, REPORT_TAGS } from '../../shared/reporting/browser-report.ts';
import { COLLECT_NOTHING } from '../../shared/reporting/collect-nothing.ts';
import { MAX_BREADCRUMBS, MAX_VALUE_LENGTH } from '../../shared/shared-limits.ts';
import type { ReportedAddress } from '../../shared/wire/payload.ts';

/** Browsers' limit for all requests together that can outlive their page, with room for headers (bytes). */
const MAX_KEEPALIVE_BYTES = 60_000;

/** Callbacks that wait for the digest of an event, by its id. */
type Answers = Map<string, (reported: ReportedAddress) => void>;

type Post = Parameters<typeof createTransport>[1];

/** Sends reports with the SDK. */
export interface BrowserReporter {
  report(report: BrowserReport): void;
}

/**
 * Turns reports into events, and posts them to the tunnel. It collects no errors itself, because the engine has already
 * received everything that the SDK's own handlers would. Ignored errors are left to the tunnel, which counts them.
 */
export function createReporter(early: EarlyErrors): BrowserReporter {
  const { settings } = early;
  const answers: Answers = new Map();
  const client = new BrowserClient({
    dsn: settings.dsn ?? `https://spillway@${location.host}/1`,
    tunnel: settings.tunnel,
    release: settings.release,
    environment: settings.environment,
    transport: (options) => createTransport(options, createPost(early, answers)),
    stackParser: defaultStackParser,
    integrations: [
      breadcrumbsIntegration({ sentry: false, dom: false }),
      consoleIntegration(),
      linkedErrorsIntegration(),
    ],
    maxBreadcrumbs: MAX_BREADCRUMBS,
    maxValueLength: MAX_VALUE_LENGTH,
    dataCollection: COLLECT_NOTHING,
  });
  const scope = getCurrentScope();
  scope.setClient(client);
  scope.setTag(REPORT_TAGS.build, settings.build);
  continueTrace(scope, early);
  client.init();
  watchVisitor();

  return {
    report(report) {
      const { thrown } = report;
      const hint = { originalException: thrown, mechanism: { type: report.via, handled: report.via === 'report' } };
      const own = toScope(scope, report);
      const eventId = isError(thrown)
        ? client.captureException(thrown, hint, own)
        : client.captureEvent(toPlainEvent(report), hint, own);
      if (report.onAddress) answers.set(eventId, report.onAddress);
    },
  };
}

function continueTrace(scope: Scope, early: EarlyErrors): void {
  const { traceId, spanId, parentId, sampled } = early.trace();
  scope.setPropagationContext({
    traceId,
    propagationSpanId: spanId,
    parentSpanId: parentId,
    ...(sampled && { sampled: sampled === '1' }),
    sampleRand: Math.random(),
  });
}

/** Adds the facts of one report, apart from the error. */
function toScope(base: Scope, report: BrowserReport): Scope {
  const { at, url, route, kind, echo, componentStack, said, level, tags = {}, extra = {} } = report;
  const scope = base.clone().setTags(tags).setExtras(extra);
  if (level) scope.setLevel(level);
  if (kind) scope.setTag(REPORT_TAGS.kind, kind);
  if (echo) scope.setTag(REPORT_TAGS.echo, echo);
  if (componentStack || said) {
    scope.setContext('react', { componentStack, said, meaning: said && explainReactError(said) });
  }
  scope.addEventProcessor((event) => {
    event.timestamp = at / 1000;
    // The first load leaves it out, to be small. A page that has changed since has another one.
    event.request = { url: url === location.origin + location.pathname ? url + location.search : url };
    if (route) event.transaction = route;
    if (kind === 'hydration') event.contexts = { ...event.contexts, culture: readCulture() };
    return event;
  });
  return scope;
}

/** Server and browser render dates and numbers differently if these differ. */
function readCulture(): { readonly locale: string; readonly timezone: string } {
  const { locale, timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions();
  return { locale, timezone };
}

/** Fields that are not typed into. */
const CLICKED = '[type=checkbox],[type=radio],[type=file],[type=submit],[type=button],[type=image],[type=reset]';

/**
 * Records clicks and changed fields, without values. The SDK's own breadcrumbs are added after
 * React's handlers have run, which is too late if a handler fails.
 */
function watchVisitor(): void {
  const take = ({ type, target }: Event) => {
    if (!(target instanceof Element)) return;
    const isField = own(target, 'matches').call(target, 'input,textarea,select');
    const isTyped = isField && !own(target, 'matches').call(target, CLICKED);
    // A click on a label is followed by one on its field.
    const closest = (selector: string) => own(target, 'closest').call(target, selector);
    if (isTyped !== (type === 'change') || (!isField && closest('label'))) return;
    addBreadcrumb({
      category: isTyped ? 'ui.input' : 'ui.click',
      message: toSelector(closest('a,button,summary,[role=button]') ?? target),
      data: isTyped ? { type: (target as HTMLInputElement).type } : undefined,
    });
  };
  for (const type of ['click', 'change']) addEventListener(type, take, { capture: true, passive: true });
}

/** Makes an event of a thrown value that is not an error. It has no stack, at best the position from a window event. */
function toPlainEvent({ thrown, location = '' }: BrowserReport): ErrorEvent {
  const [, filename, line, column] = /^(https?:.+):(\d+):(\d+)$/.exec(location) ?? [];
  const frame = { filename, lineno: Number(line), colno: Number(column), function: '?', in_app: true };
  const stacktrace = filename ? { stacktrace: { frames: [frame] } } : {};
  return {
    type: undefined,
    level: 'error',
    exception: { values: [{ type: 'NonError', value: toWords(thrown), ...stacktrace }] },
  };
}

function toWords(thrown: unknown): string {
  try {
    return (typeof thrown === 'object' && JSON.stringify(thrown)) || String(thrown);
  } catch {
    return 'something that cannot be read';
  }
}

/** Also true for errors of other realms and of the browser itself. */
function isError(thrown: unknown): boolean {
  return (
    thrown instanceof Error || /^\[object (?:\w*Error|\w*Exception)\]$/.test(Object.prototype.toString.call(thrown))
  );
}

/** Posts envelopes, and passes on the address from the tunnel's response. */
function createPost({ settings, fetch }: EarlyErrors, answers: Answers): Post {
  let bytesOnTheWay = 0;
  return async function post({ body }) {
    const { size: bytes } = new Blob([body as BlobPart]);
    bytesOnTheWay += bytes;
    try {
      const keepalive = bytesOnTheWay <= MAX_KEEPALIVE_BYTES;
      const response = await fetch(settings.tunnel, { method: 'POST', body: body as BodyInit, keepalive });
      readAnswer(await response.text(), answers);
      return {
        statusCode: response.status,
        headers: {
          'x-sentry-rate-limits': response.headers.get('X-Sentry-Rate-Limits'),
          'retry-after': response.headers.get('Retry-After'),
        },
      };
    } finally {
      bytesOnTheWay -= bytes;
    }
  };
}

/**
 * Reads `{"id":"…","digest":"7K3QM2XA"}`. There is no digest if the server must look it up first. `url` is set for
 * a visitor who can open the failure.
 */
function readAnswer(text: string, answers: Answers): void {
  const { id, digest, url } = parseAnswer(text);
  const answer = answers.get(String(id));
  answers.delete(String(id));
  const address = `${digest}-${toOccurrence(String(id))}`;
  if (isAddress(address)) answer?.({ digest: address, ...(typeof url === 'string' && { url }) });
}

function parseAnswer(text: string): { readonly id?: unknown; readonly digest?: unknown; readonly url?: unknown } {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Reads a property of an element. The fields of a form replace the form's own properties and methods of their names. */
function own<Name extends keyof Element>(node: Element, name: Name): Element[Name] {
  return Reflect.get(Element.prototype, name, node);
}

/**
 * Attributes that the page's author wrote, the most telling first. The text and the `aria-label` of an element can name a
 * visitor's things: "Delete <title>".
 */
const ATTRIBUTES = ['data-testid', 'name', 'href', 'type'];

/** Ids that React makes change with each render. */
const LASTING_ID = /^[A-Za-z][\w-]*$/;

/** Returns a short CSS selector that only this element of the document matches, without classes of the build. */
function toSelector(element: Element): string {
  let inner = '';
  for (let node: Element | null = element; node; node = own(node, 'parentElement')) {
    const name = describe(node);
    const [short, exact] = [name, `${name}:nth-of-type(${toPosition(node)})`].map((own) => own + inner);
    for (const selector of [short, exact]) {
      if (selector && document.querySelectorAll(selector).length === 1) return selector;
    }
    inner = ` > ${exact}`;
  }
  return inner.slice(' > '.length);
}

function describe(node: Element): string {
  const tag = CSS.escape(own(node, 'localName')); // `<o:p>` is from Word
  const id = own(node, 'id');
  if (LASTING_ID.test(id)) return `#${id}`;
  for (const name of ATTRIBUTES) {
    const value = own(node, 'getAttribute').call(node, name) ?? '';
    const shown = name === 'href' ? toPath(value) : value;
    if (shown && shown.length < 100) return `${tag}[${name}${shown === value ? '' : '^'}=${JSON.stringify(shown)}]`;
  }
  return tag;
}

/** Leaves out the query and the fragment of a link, and links that are no pages, such as `mailto:`. */
function toPath(href: string): string | undefined {
  return /^(?:https?:\/)?\/[^?#]*/.exec(href)?.[0];
}

/** @returns the number among the siblings with the same tag, from 1 */
function toPosition(node: Element): number {
  let position = 1;
  for (let other = own(node, 'previousElementSibling'); other; other = own(other, 'previousElementSibling')) {
    if (own(other, 'localName') === own(node, 'localName')) position += 1;
  }
  return position;
}
