import { createHash } from 'node:crypto';
import { toCrockford } from '../../../shared/reporting/address.ts';
import type { FailureKind } from '../../../shared/words.ts';
import { MAX_MESSAGE_LENGTH } from '../../limits.ts';
import type { ErrorRecord, Failure, FrameLocation } from '../failure.ts';
import { findLocation, isProducts } from './find-location.ts';
import { type FoundLocation, isBundle, type LocationTable, toFirst } from './location-table.ts';
import { OBJECT } from './read-error.ts';
import {
  isMaskedInPart,
  isNativeClass,
  isSynthetic,
  kindOf,
  maskMessage,
  readNativeDetail,
  readReactNumber,
  unifyClass,
} from './read-message.ts';

/** Changes whenever a failure gets a different digest than before. `docs/decisions/006-digest.md` has the rule. */
export const DIGEST_RULE = 2;

export interface DigestInput {
  /** Set if the kind does not follow from the error, such as `csp` or `blocked-loop`. */
  readonly kind?: FailureKind;
  readonly side: Failure['side'];
  /** Outermost first; empty for a failure without an error. */
  readonly errors: readonly ErrorRecord[];
  /** The route's pattern. It only counts if nothing in the source does. */
  readonly route?: string;
  /** Separates failures that would share a digest, for example by tenant. */
  readonly splitBy?: readonly string[];
  /** Replaces everything else that makes the digest. */
  readonly fingerprint?: readonly string[];
  /**
   * The key of a special kind: `called` (the route of a failed request), `directive` and `blocked` (csp), `reason` and
   * `id` (crash, unclean death, deprecation, intervention).
   */
  readonly details?: Readonly<Record<string, string>>;
}

interface DigestOptions {
  /** The same on all replicas and releases. It keeps outsiders from confirming a guess. */
  readonly namespace: string;
  readonly table: LocationTable;
}

export type DigestResult = Pick<Failure, 'digest' | 'kind' | 'unresolved' | 'location' | 'title'>;

/** The fields of a digest, in this order. */
interface Key {
  readonly class: string;
  readonly path: string;
  readonly function: string;
  readonly detail: string;
  readonly rootCause: string;
}

/**
 * Names the kind of a failure. The digest is the same on every replica, on every engine and after every restart. It is
 * the same in the next release if the failing code did not change. Lines, columns and the origin are not part of it:
 * a bug that is reached from a render and from a loader is one incident.
 */
export function createDigest(input: DigestInput, { namespace, table }: DigestOptions): DigestResult {
  const chain = input.errors.filter((error) => !isSynthetic(error));
  const errors = chain.length > 0 ? chain : input.errors;
  const { error, location } = findPrimary(errors, table);
  const endsServer = input.kind === 'server-exit'; // which does not change the digest
  const isNamed = input.kind !== undefined && input.kind !== 'exception' && !endsServer;
  const kind = isNamed ? input.kind : findKind(error, location, errors);
  const special = kind === 'exception' ? undefined : toSpecialKey(kind, error, location, input, table);
  const key =
    special ??
    (location && error ? toLocationKey(error, location, errors, table) : toWordsKey(error, errors, input, table));
  const { fingerprint, splitBy = [] } = input;
  const words = fingerprint
    ? ['fingerprint', ...[fingerprint].flat().map(String)]
    : [...Object.values(key), ...splitBy];
  const isUnresolved = !fingerprint && errors.some((one) => hasUnknownBundle(one, table));
  return {
    digest: toDigest([String(DIGEST_RULE), namespace, ...words]),
    kind: endsServer ? 'server-exit' : kind,
    unresolved: isUnresolved || undefined,
    location: location ? toFrameLocation(location, key, error) : toPackageLocation(kind, key),
    title: toTitle(kind, error, input.details),
  };
}

/**
 * Finds the error that explains the failure: the outermost that the application's own code threw, else the outermost
 * of the engine, else the innermost. An `AggregateError` represents its members.
 */
function findPrimary(
  errors: readonly ErrorRecord[],
  table: LocationTable,
): { error?: ErrorRecord; location?: FoundLocation } {
  let fallback: { error: ErrorRecord; location: FoundLocation } | undefined;
  for (const error of errors) {
    const location = findLocation(error, table);
    if (location && isProducts(location)) return { error, location };
    if (error.members) return { error, location };
    if (location) fallback ??= { error, location };
  }
  const innermost = errors.at(-1);
  return fallback ?? (innermost ? { error: innermost } : {});
}

/**
 * Derives the kind from the message of the primary error, or from all messages if no error has a location in the
 * application. An error that the application throws itself is always an `exception`.
 */
function findKind(
  error: ErrorRecord | undefined,
  location: FoundLocation | undefined,
  errors: readonly ErrorRecord[],
): FailureKind {
  if (isProducts(location) && error) return location?.kind === 'thrown' ? 'exception' : kindOf(error);
  return errors.map(kindOf).find((kind) => kind !== 'exception') ?? 'exception';
}

function toLocationKey(
  error: ErrorRecord,
  location: FoundLocation,
  errors: readonly ErrorRecord[],
  table: LocationTable,
): Key {
  const { path, function: name } = toFirst(location);
  return {
    class: toClass(error, location),
    path,
    function: name,
    detail: toDetail(error, location, table),
    rootCause: toRootCause(error, errors, table, location),
  };
}

function toClass(error: ErrorRecord, location: FoundLocation | undefined): string {
  const name = unifyClass(error.class, error.message);
  if (name === 'NonError' || isNativeClass(name)) return name;
  // From the source, because a minifier renames classes in each build.
  const made =
    location?.kind === 'thrown' ? /^(?:throw )?new ([\w$.]+)\(/.exec(toFirst(location).detail)?.[1] : undefined;
  if (made) return made.slice(made.lastIndexOf('.') + 1);
  return isMinified(name) ? 'Error' : name;
}

function isMinified(name: string): boolean {
  return name.length <= 3 || !/^[A-Za-z_$][\w$.: -]*$/.test(name);
}

function toDetail(error: ErrorRecord, location: FoundLocation, table: LocationTable): string {
  const { message, code } = error;
  if (isNativeClass(unifyClass(error.class, message))) {
    const native = readNativeDetail(message);
    if (native === undefined || (native.isVague && location.kind === 'call')) return toFirst(location).detail;
    const isData = native.property !== undefined && !table.isWritten(location.path, native.property);
    return isData ? native.detail.replace(native.property ?? '', '') : native.detail;
  }
  if (location.kind === 'thrown') return toFirst(location).detail;
  // A dependency threw it, with a message that is the same on every engine.
  return code ?? toWords(error);
}

function toRootCause(
  primary: ErrorRecord | undefined,
  errors: readonly ErrorRecord[],
  table: LocationTable,
  location?: FoundLocation,
): string {
  if (!primary) return '';
  if (primary.members) return primary.members.map((name) => (isMinified(name) ? 'Error' : name)).join(',');
  const innermost = errors.at(-1);
  if (!innermost || innermost === primary) return '';
  const name = toClass(innermost, findLocation(innermost, table));
  if (innermost.code) return `${name}:${innermost.code}`;
  return name === toClass(primary, location) ? '' : name;
}

/** Uses the message, the route and the origin of a foreign script, because no place in the source is known. */
function toWordsKey(
  error: ErrorRecord | undefined,
  errors: readonly ErrorRecord[],
  input: DigestInput,
  table: LocationTable,
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
  if (name === 'NonError' && message.startsWith(OBJECT)) return maskMessage(OBJECT);
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
  location: FoundLocation | undefined,
  { route = '', details = {} }: DigestInput,
  table: LocationTable,
): Key {
  const key = { class: kind, path: '', function: '', detail: '', rootCause: '' };
  switch (kind) {
    case 'hydration':
      return { ...key, path: route };
    case 'timeout':
      return { ...key, path: route, detail: error?.class ?? '' };
    case 'network':
      // Only V8 in browsers says who called.
      return details.called === undefined ? { ...key, path: route } : { ...key, detail: details.called };
    case 'blocked-loop':
      return { ...key, ...(location ? toPlace(location) : toSource(error, table)) };
    case 'csp':
      return { ...key, ...toSource(error, table), detail: `${details.directive ?? ''} ${details.blocked ?? ''}` };
    case 'crash':
    case 'unclean-death':
    case 'deprecation':
    case 'intervention':
      return { ...key, detail: details.id ?? details.reason ?? '' };
    default:
      return key;
  }
}

/** Returns the source of a report that has one, even in a dependency or in a script of another location. */
function toSource(error: ErrorRecord | undefined, table: LocationTable): Pick<Key, 'path' | 'function'> {
  const [frame] = error?.frames ?? [];
  const found = frame && table.find(frame);
  if (!found) return { path: frame?.file.replace(/-[A-Z0-9]{8}(?=\.js$)/, '') ?? '', function: '' };
  return toPlace(found);
}

function toPlace(location: FoundLocation): Pick<Key, 'path' | 'function'> {
  const { path, function: name } = toFirst(location);
  return { path, function: name };
}

/** A location can exist anyway: this table knows chunks that have not changed since the build that the stack is from. */
function hasUnknownBundle({ frames }: ErrorRecord, table: LocationTable): boolean {
  return frames.some(({ file }) => isBundle(file) && !table.has(file));
}

/** Drops the last word of a long message, because it can be half a word, and half a secret. */
function toFrameLocation(location: FoundLocation, key: Key, error: ErrorRecord | undefined): FrameLocation {
  const { path, function: name } = location;
  const detail = key.detail === location.first?.detail ? location.detail : key.detail;
  const isCut = error !== undefined && isMaskedInPart(error.message) && detail === maskMessage(error.message);
  return { path, function: name, detail: isCut ? detail.replace(/\S+$/, '…') : detail };
}

/** The package whose script a policy refused. Of errors, the stack shows it. */
function toPackageLocation(kind: FailureKind, { path }: Key): FrameLocation | undefined {
  return kind === 'csp' && path.startsWith('node_modules/') ? { path, function: '', detail: '' } : undefined;
}

function toTitle(kind: FailureKind, error: ErrorRecord | undefined, details: DigestInput['details']): string {
  // All of them have one digest, and each way to report them has other words.
  if (kind === 'load') return 'LoadError: A script or a style sheet could not be loaded.';
  const foreign = error?.frames.find(({ file }) => /^https?:/.test(file))?.file;
  const words =
    error && kind !== 'csp'
      ? `${error.class}: ${toFirstLine(error.message)}`
      : [kind, ...Object.values(details ?? {}), ...(foreign ? [foreign] : [])].join(' ');
  // Pages show less, but only cut after scrubbing, because half a secret cannot be recognized.
  return words.slice(0, MAX_MESSAGE_LENGTH);
}

/** Joins the lines of JSON, such as the message of a `ZodError`: its first line is only a bracket. */
function toFirstLine(message: string): string {
  return /^[[{]\s*\n/.test(message) ? message.replace(/\s+/g, ' ') : (message.split(/[\r\n]/, 1)[0] ?? '');
}

/** Hashes each field with its length, so that two different lists of fields never give the same text. */
function toDigest(fields: readonly string[]): string {
  const hash = createHash('sha256');
  for (const field of fields) {
    const bytes = Buffer.from(field.normalize('NFC'), 'utf8');
    hash.update(`${bytes.length}:`).update(bytes);
  }
  return toCrockford(hash.digest('hex').slice(0, 10));
}
