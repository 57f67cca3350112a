import { createHash } from 'node:crypto';
import { toCrockford } from '../../../../shared/engine/reporting/address.ts';
import { KiB } from '../../../../shared/units.ts';
import type { ErrorRecord, Failure, FailureKind, Site } from '../failure.ts';
import { findSite, isOwn } from './find-site.ts';
import { isMaskedInPart, maskMessage } from './mask-message.ts';
import { isNativeClass, readNativeDetail, unifyClass } from './native-error.ts';
import { type FoundSite, type SiteTable, toFirst } from './site-table.ts';
import { isSynthetic, kindOf, readReactNumber } from './special.ts';

/** Changes whenever one failure gets another digest than before. `docs/decisions/006-digest.md` has the rule. */
export const DIGEST_RULE = 2;

/** What a title is made of (UTF-16 code units). It is shown shorter, but cut where it was scrubbed before: half a secret is one that nothing knows. */
const MAX_TITLE_WORDS = 2 * KiB;

export interface DigestInput {
  /** Where it is known from elsewhere than from the error, such as `csp` or `blocked-loop`. */
  readonly kind?: FailureKind;
  readonly side: 'server' | 'browser';
  /** Outermost first; empty for what has no error. */
  readonly errors: readonly ErrorRecord[];
  /** The route's pattern. It counts where nothing in the source does. */
  readonly route?: string;
  /** Separates on purpose what would have one digest, such as tenants. */
  readonly splitBy?: readonly string[];
  /**
   * What a special kind rests on: `called` (the route of a failed request), `directive` and `blocked`
   * (csp), `reason` and `id` (crash, deprecation, intervention).
   */
  readonly details?: Readonly<Record<string, string>>;
}

export interface DigestOptions {
  /** The same on all replicas and releases; keeps strangers from confirming a guess. */
  readonly namespace: string;
  readonly table: SiteTable;
}

export type DigestResult = Pick<Failure, 'digest' | 'kind' | 'rule' | 'weak' | 'unresolved' | 'site' | 'title'>;

/** What a digest is made of, in this order. */
interface Key {
  readonly class: string;
  readonly path: string;
  readonly function: string;
  readonly detail: string;
  readonly rootCause: string;
}

/**
 * Names the kind of a failure: the same on every replica, after every restart, on every engine, and in
 * the next release if the code that fails did not change. No line or column takes part, and origin does
 * not either: one bug that is reached from a render and from a loader is one.
 */
export function createDigest(input: DigestInput, { namespace, table }: DigestOptions): DigestResult {
  const chain = input.errors.filter((error) => !isSynthetic(error));
  const errors = chain.length > 0 ? chain : input.errors;
  const { error, site } = findPrimary(errors, table);
  const isNamed = input.kind !== undefined && input.kind !== 'exception';
  const kind = isNamed ? input.kind : findKind(error, site, errors);
  const special = kind === 'exception' ? undefined : toSpecialKey(kind, error, site, input);
  const key =
    special ?? (site && error ? toSiteKey(error, site, errors, table) : toWordsKey(error, errors, input, table));
  const isWeak = special === undefined && site === undefined;
  const isUnresolved = errors.some((one) => hasUnknownBundle(one, table));
  return {
    digest: toDigest([String(DIGEST_RULE), namespace, ...Object.values(key), ...(input.splitBy ?? [])]),
    kind,
    rule: DIGEST_RULE,
    ...(isWeak && { weak: true }),
    ...(isUnresolved && { unresolved: true }),
    ...(site && { site: toSite(site, key, error) }),
    title: toTitle(kind, error, input.details),
  };
}

/**
 * The error that tells what went wrong: the outermost that the application's own code threw, else the
 * outermost of the engine's, else the innermost. An `AggregateError` stands for what it holds.
 */
function findPrimary(errors: readonly ErrorRecord[], table: SiteTable): { error?: ErrorRecord; site?: FoundSite } {
  let fallback: { error: ErrorRecord; site: FoundSite } | undefined;
  for (const error of errors) {
    const site = findSite(error, table);
    if (site && isOwn(site)) return { error, site };
    if (error.members) return { error, ...(site && { site }) };
    if (site) fallback ??= { error, site };
  }
  const innermost = errors.at(-1);
  return fallback ?? (innermost ? { error: innermost } : {});
}

/**
 * By the words of the error that tells what went wrong, and of those around it where none of them has a
 * place in the application. What the application throws itself says what it means to.
 */
function findKind(
  error: ErrorRecord | undefined,
  site: FoundSite | undefined,
  errors: readonly ErrorRecord[],
): FailureKind {
  if (isOwn(site) && error) return site?.kind === 'thrown' ? 'exception' : kindOf(error);
  return errors.map(kindOf).find((kind) => kind !== 'exception') ?? 'exception';
}

function toSiteKey(error: ErrorRecord, site: FoundSite, errors: readonly ErrorRecord[], table: SiteTable): Key {
  const { path, function: name } = toFirst(site);
  return {
    class: toClass(error, site),
    path,
    function: name,
    detail: toDetail(error, site, table),
    rootCause: toRootCause(error, errors, table, site),
  };
}

function toClass(error: ErrorRecord, site: FoundSite | undefined): string {
  const name = unifyClass(error.class, error.message);
  if (name === 'NonError' || isNativeClass(name)) return name;
  // By the source: the name that a minifier gave to a class is another one in each build.
  const made = site?.kind === 'thrown' ? /^(?:throw )?new ([\w$.]+)\(/.exec(toFirst(site).detail)?.[1] : undefined;
  if (made) return made.slice(made.lastIndexOf('.') + 1);
  return isMinified(name) ? 'Error' : name;
}

function isMinified(name: string): boolean {
  return name.length <= 3 || !/^[A-Za-z_$][\w$.: -]*$/.test(name);
}

function toDetail(error: ErrorRecord, site: FoundSite, table: SiteTable): string {
  const { message, code } = error;
  if (isNativeClass(unifyClass(error.class, message))) {
    const native = readNativeDetail(message);
    if (native === undefined || (native.isVague && site.kind === 'call')) return toFirst(site).detail;
    const isData = native.property !== undefined && !table.isWritten(site.path, native.property);
    return isData ? native.detail.replace(native.property ?? '', '') : native.detail;
  }
  if (site.kind === 'thrown') return toFirst(site).detail;
  // A dependency threw it, in words that are the same on every engine.
  return code ?? toWords(error);
}

function toRootCause(
  primary: ErrorRecord | undefined,
  errors: readonly ErrorRecord[],
  table: SiteTable,
  site?: FoundSite,
): string {
  if (!primary) return '';
  if (primary.members) return primary.members.map((name) => (isMinified(name) ? 'Error' : name)).join(',');
  const innermost = errors.at(-1);
  if (!innermost || innermost === primary) return '';
  const name = toClass(innermost, findSite(innermost, table));
  if (innermost.code) return `${name}:${innermost.code}`;
  return name === toClass(primary, site) ? '' : name;
}

/** Nothing in the source is known, so the words have to do, with the route and the origin of a foreign script. */
function toWordsKey(
  error: ErrorRecord | undefined,
  errors: readonly ErrorRecord[],
  input: DigestInput,
  table: SiteTable,
): Key {
  return {
    class: error ? toClass(error, undefined) : 'unknown',
    path: input.route ?? '',
    function: error ? toForeignOrigin(error) : '',
    detail: error ? toWords(error) : '',
    rootCause: toRootCause(error, errors, table),
  };
}

function toWords({ class: name, message }: ErrorRecord): string {
  const native = isNativeClass(name) ? readNativeDetail(message) : undefined;
  if (native) return native.detail;
  const number = readReactNumber(message);
  return number === undefined ? maskMessage(message) : `React ${number}`;
}

function toForeignOrigin({ frames }: ErrorRecord): string {
  const thrower = frames.find(({ file }) => file !== '')?.file ?? '';
  return /^https?:\/\/[^/]*/.exec(thrower)?.[0] ?? '';
}

function toSpecialKey(
  kind: FailureKind,
  error: ErrorRecord | undefined,
  site: FoundSite | undefined,
  { route = '', details = {} }: DigestInput,
): Key {
  const key = { class: kind, path: '', function: '', detail: '', rootCause: '' };
  const { path = '', function: name = '' } = site ? toFirst(site) : {};
  switch (kind) {
    case 'hydration':
      return { ...key, path: route };
    case 'timeout':
      return { ...key, path: route, detail: error?.class ?? '' };
    case 'network':
      // Of the engines, V8 in browsers alone tells who called.
      return details.called === undefined ? { ...key, path: route } : { ...key, detail: details.called };
    case 'blocked-loop':
      return { ...key, path, function: name };
    case 'csp':
      return { ...key, detail: `${details.directive ?? ''} ${details.blocked ?? ''}` };
    case 'crash':
    case 'deprecation':
    case 'intervention':
      return { ...key, detail: details.id ?? details.reason ?? '' };
    default:
      return key;
  }
}

/** The site may be there: of an earlier build's stack, this one knows the frames of chunks that did not change. */
function hasUnknownBundle({ frames }: ErrorRecord, table: SiteTable): boolean {
  return frames.some(({ file }) => /^(?:client|server)\//.test(file) && !table.has(file));
}

/** The last of the words of a long message may be half of one, and of a secret. */
function toSite(site: FoundSite, key: Key, error: ErrorRecord | undefined): Site {
  const { path, function: name } = site;
  const detail = key.detail === site.first?.detail ? site.detail : key.detail;
  const isCut = error !== undefined && isMaskedInPart(error.message) && detail === maskMessage(error.message);
  return { path, function: name, detail: isCut ? detail.replace(/\S+$/, '…') : detail };
}

function toTitle(kind: FailureKind, error: ErrorRecord | undefined, details: DigestInput['details']): string {
  const words = error
    ? `${error.class}: ${error.message.split(/[\r\n]/, 1)[0] ?? ''}`
    : [kind, ...Object.values(details ?? {})].join(' ');
  return words.slice(0, MAX_TITLE_WORDS);
}

/** Each field with its length, so that no two lists of fields are one text. */
function toDigest(fields: readonly string[]): string {
  const hash = createHash('sha256');
  for (const field of fields) {
    const bytes = Buffer.from(field.normalize('NFC'), 'utf8');
    hash.update(`${bytes.length}:`).update(bytes);
  }
  return toCrockford(hash.digest('hex').slice(0, 10));
}
