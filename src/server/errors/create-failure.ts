import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { toOccurrence } from '../../shared/reporting/address.ts';
import type { ReportOptions } from '../../shared/reporting/browser-report.ts';
import { ACTION_FIELD } from '../../shared/wire/protocol.ts';
import type { FailureKind } from '../../shared/words.ts';
import type { Definition } from '../request/definition.ts';
import { groupFields } from '../request/parse-body.ts';
import type { RequestInfo } from '../request/request-info.ts';
import { createDigest } from './digest/create-digest.ts';
import { isProducts } from './digest/find-location.ts';
import { emptyLocationTable, type LocationTable } from './digest/location-table.ts';
import { type FramePaths, parseStack, readErrors, readView } from './digest/read-error.ts';
import type { BodyField, ErrorRecord, Failure, FailureOrigin, RequestRecord, StackFrame, Visitor } from './failure.ts';
import { hidePathSecrets } from './scrub/secret-path.ts';
import { listBodySecrets, listRequestSecrets } from './scrub/secret-values.ts';
import { type Scrubber, scrubFailure } from './scrub.ts';
import { trimFailure } from './trim.ts';

/** The options of a report on the server. */
export interface ServerReportOptions extends ReportOptions {
  /** Your own stable id of the affected visitor. Only a hash of it is stored. By default, the visitor of the request. */
  readonly user?: string;
  /** Makes the digest, in place of the source that failed: errors with the same words are one incident. */
  readonly fingerprint?: readonly string[];
}

/** The circumstances of a failure, which the incident shows. */
export interface FailureContext {
  readonly origin: FailureOrigin;
  readonly routeId?: string;
  /** The route's pattern (`/orders/:id`), never the URL. */
  readonly route?: string;
  /** Path and query of the page, if they are not the request's own. */
  readonly url?: string;
  /** The request that failed. By default, the funnel uses the request in whose async context the error was thrown. */
  readonly info?: RequestInfo;
  readonly headers?: IncomingHttpHeaders;
  /**
   * The parsed body that was posted. Only the names and types of its fields are stored, but its secrets must not appear
   * in a message either.
   */
  readonly body?: unknown;
  /** The reason why the request's work was aborted: an `AbortError` after `VisitorGone` is not a failure. */
  readonly endedBy?: unknown;
  /** The result is also shown to other visitors. */
  readonly isShared?: boolean;
  /** The result is not shown, because a click requests the page again. It opens no incident, unless `isShared`. */
  readonly isPrefetch?: boolean;
  /** The product's function that ran. The incident shows it if the error's stack has no code of the product. */
  readonly definition?: Definition | undefined;
  /** The server ends because of it. */
  readonly endsServer?: boolean;
  /** React's component stack of a failed render, innermost first. */
  readonly componentStack?: string;
  /** The product handled the error, and reported it with these options. */
  readonly reported?: ServerReportOptions;
}

/** The input of a record: a thrown error, or the observation of a watcher. */
export interface Recorded {
  readonly error?: unknown;
  readonly kind?: FailureKind;
  /** Replaces the records of a thrown error. */
  readonly errors?: readonly ErrorRecord[];
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** The build whose failures these are. */
interface FailingBuild {
  readonly build: string;
  /** By default, the build. */
  readonly release?: string;
  /** The same on all replicas and releases. It keeps outsiders from confirming a guess. */
  readonly namespace?: string;
  readonly paths?: FramePaths;
  /** The table of positions in the bundles and of the source that is there. Read for the first failure. */
  readonly table?: () => LocationTable;
}

interface MakerOptions {
  readonly scrubber: Scrubber;
  /** Names of posted fields whose values are stored. */
  readonly keep?: readonly string[] | undefined;
  /** Set by the product to keep failures at one place apart. */
  readonly splitBy?: (error: unknown, context: FailureContext) => readonly string[];
}

/** A constant by default, so that replicas and fresh disks agree. */
const DEFAULT_NAMESPACE = 'spillway';

const NO_BUILD: FramePaths = { dist: join(process.cwd(), 'dist') };

/** Headers that help to explain a failure and do not identify the visitor. */
const SHOWN_HEADERS = [
  'accept',
  'accept-language',
  'content-length',
  'content-type',
  'purpose',
  'referer',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-site',
  'user-agent',
] as const;

/**
 * Makes the record of a failure: reads, digests, scrubs and trims it. It never throws because of the error, but can because
 * of what the product has set for the request.
 */
export type FailureMaker = ReturnType<typeof createFailureMaker>;

export function createFailureMaker(running: FailingBuild, { scrubber: ownScrubber, keep = [], splitBy }: MakerOptions) {
  const { build, release = build, namespace = DEFAULT_NAMESPACE } = running;
  const { paths = NO_BUILD, table = () => emptyLocationTable } = running;

  return function toFailure(
    { error, errors = readErrors(error, paths), kind, extra }: Recorded,
    context: FailureContext,
  ) {
    const { info, reported = {} } = context;
    const { level, user, fingerprint } = reported;
    const scrubber = withSecretsOf(context, ownScrubber);
    const id = randomBytes(16).toString('hex');
    const found = createDigest(
      {
        kind: context.endsServer ? 'server-exit' : kind,
        side: 'server',
        errors,
        route: context.route ?? info?.route,
        splitBy: split(error, context),
        fingerprint,
      },
      { namespace, table: table() },
    );
    const view = readView(error, paths);
    const waiting = view || found.unresolved ? undefined : findWaiting(errors, context);
    const failure: Failure = {
      id,
      digest: found.digest,
      occurrence: toOccurrence(id),
      kind: found.kind,
      side: 'server',
      origin: context.origin,
      level: level === 'warning' ? level : undefined,
      at: Date.now(),
      build,
      release,
      errors: view ? withView(errors, view) : waiting ? withFrame(errors, waiting.frame) : errors,
      title: view ? toViewTitle(errors) : found.title,
      location: view ? { path: view.file, function: '', detail: '' } : (found.location ?? waiting?.location),
      route: context.route ?? info?.pattern,
      routeId: context.routeId,
      requestId: info?.requestId,
      traceId: info?.knownTraceId,
      request: toRequestRecord(context, keep, scrubber),
      componentStack: context.componentStack,
      breadcrumbs: info?.trail,
      tags: info?.tags || reported.tags ? toTexts({ ...info?.tags, ...reported.tags }) : undefined,
      extra: extra ?? reported.extra,
    };
    const visitor: Visitor | undefined =
      info || user ? { address: info?.address ?? '', id: user ?? info?.readVisitorId() } : undefined;
    // The scrubber also knows the secrets of the request.
    return { failure: trimFailure(scrubFailure(failure, scrubber)), visitor, scrubber };
  };

  /**
   * Finds the product's function that waited or reported, if the stack has none: errors of sockets, files and drivers are
   * often made in a callback, where V8 knows no callers. Digests do not depend on it.
   */
  function findWaiting(errors: readonly ErrorRecord[], { definition, info }: FailureContext) {
    const known = table();
    if (errors.some(({ frames }) => frames.some((frame) => isProducts(known.find(frame))))) return undefined;
    const { call, part } = definition ?? info?.definition ?? {};
    const calls = parseStack(call?.stack ?? '', paths);
    const caller = calls.find((frame) => isProducts(known.find(frame)));
    const frame = (caller && part && known.findFunction(caller, part)) || caller;
    const found = frame && known.find(frame);
    if (!found) return undefined;
    return {
      frame: { ...frame, async: true as const },
      location: { path: found.path, function: found.function, detail: '' },
    };
  }

  function split(error: unknown, context: FailureContext): readonly string[] | undefined {
    try {
      return splitBy?.(error, context).map(String);
    } catch {
      return undefined; // the product's code can fail on hostile values; the failure itself matters more
    }
  }
}

/** Adds a frame to the error that arrived. */
function withFrame([first, ...causes]: readonly ErrorRecord[], frame: StackFrame): ErrorRecord[] {
  return first ? [{ ...first, frames: [...first.frames, frame] }, ...causes] : causes;
}

/** The stack only has the line that rendered the view. Digests do not depend on the view. */
function withView([first, ...causes]: readonly ErrorRecord[], view: StackFrame): ErrorRecord[] {
  return first ? [{ ...first, frames: [view, ...first.frames] }, ...causes] : causes;
}

/** Around the last line of the message is the source of the view. */
function toViewTitle([first]: readonly ErrorRecord[]): string {
  return `${first?.class}: ${first?.message.trim().split('\n').at(-1)?.trim()}`;
}

/** Node runs the product's code without its types, so a tag can be a number. */
function toTexts(tags: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(tags).map(([name, value]) => [name, String(value)]));
}

/** Adds the secrets of the request, which messages can repeat without their names. */
function withSecretsOf(
  { info, headers = info?.headers, url = info?.target, ...context }: FailureContext,
  scrubber: Scrubber,
): Scrubber {
  const { route = info?.pattern, body } = context;
  return scrubber.forReport([
    ...listRequestSecrets({ headers, url, route }, scrubber),
    // After an action, the request has other cookies than those that arrived.
    ...(headers === info?.headers ? [] : listRequestSecrets({ headers: info?.headers }, scrubber)),
    ...listBodySecrets(body, scrubber),
  ]);
}

function toRequestRecord(
  context: FailureContext,
  keep: readonly string[],
  scrubber: Scrubber,
): RequestRecord | undefined {
  const { info, headers = info?.headers } = context;
  if (!info) return undefined;
  const shown: Record<string, string> = {};
  for (const name of SHOWN_HEADERS) {
    const value = headers?.[name];
    if (value !== undefined) shown[name] = String(value);
  }
  const url = (context.url ?? info.target).replace(/\?$/, ''); // a form without fields adds it
  return {
    method: info.method,
    // A value that is too short to be recognized by itself is recognized by its place.
    url: hidePathSecrets(url, context.route ?? info.pattern, scrubber),
    headers: headers && shown,
    credentials: headers && listCredentials(headers),
    body: readBodyFields(context.body, keep, scrubber),
  };
}

/** Cookies that are named (count). */
const MAX_COOKIES = 20;

/** Says how a request authenticated itself, without the values. */
export function listCredentials({ cookie = '', authorization }: IncomingHttpHeaders): string[] {
  const names = [...cookie.matchAll(/(?:^|;) *([\w.-]{1,60})=/g)].map(([, name = '']) => name);
  return [...names.slice(0, MAX_COOKIES), ...(authorization === undefined ? [] : ['authorization'])];
}

/** Nesting, and fields of all levels together, that are recorded (counts). */
const MAX_BODY_DEPTH = 5;
const MAX_BODY_FIELDS = 60;
/** Items of a list that are recorded (count). */
const MAX_BODY_ITEMS = 3;
const MAX_NAME_LENGTH = 60;

/**
 * Returns the names and types of a posted form or JSON. Values are left out, except those of the fields in `keep` and
 * the name of a form's action.
 *
 * @param keep names of fields at any level. A name that looks secret is not kept
 * @param scrubber knows the secrets of the request
 */
export function readBodyFields(body: unknown, keep: readonly string[], scrubber: Scrubber): BodyField | undefined {
  if (typeof body !== 'object' || body === null || Buffer.isBuffer(body)) return undefined;
  const kept = new Set([...keep.filter((name) => !scrubber.hides(name)), ACTION_FIELD]);
  let count = 0;

  function read(value: unknown, name: string, depth: number): BodyField {
    if (value === null) return 'null';
    if (value instanceof File) return 'file';
    if (value instanceof FormData) return read(toObject(value), name, depth);
    if (typeof value === 'string' && kept.has(name)) return { value: scrubber.text(value) };
    if ((typeof value === 'number' || typeof value === 'boolean') && kept.has(name)) return { value };
    if (typeof value !== 'object') return typeof value as 'string';
    const isOver = depth > MAX_BODY_DEPTH || count > MAX_BODY_FIELDS;
    if (Array.isArray(value)) {
      return { items: isOver ? [] : value.slice(0, MAX_BODY_ITEMS).map((item) => read(item, name, depth + 1)) };
    }
    const entries = isOver ? [] : Object.entries(value).slice(0, MAX_BODY_FIELDS);
    count += entries.length;
    const fields = entries.filter(([key]) => key.length <= MAX_NAME_LENGTH);
    return {
      fields: Object.fromEntries(fields.map(([key, field]) => [scrubber.text(key), read(field, key, depth + 1)])),
    };
  }

  return read(body, '', 0);
}

/** Repeated fields become a list. */
function toObject(form: FormData): object {
  return Object.fromEntries([...groupFields(form)].map(([name, all]) => [name, all.length === 1 ? all[0] : all]));
}
