import type { FailureKind } from '../../../shared/words.ts';
import type { ErrorRecord } from '../failure.ts';

// Gives the native errors of all engines one wording. Each engine words the same failure differently, and includes
// variable names that a minifier has changed. All three name the property, or the global that is not defined.

/** Error classes of the language, and the names of `DOMException`. */
const NATIVE_CLASSES = new Set(
  (
    'TypeError ReferenceError RangeError SyntaxError URIError EvalError AggregateError ' +
    'AbortError ConstraintError DataCloneError DataError EncodingError HierarchyRequestError InUseAttributeError ' +
    'IndexSizeError InvalidAccessError InvalidCharacterError InvalidModificationError InvalidNodeTypeError ' +
    'InvalidStateError NamespaceError NetworkError NoModificationAllowedError NotAllowedError NotFoundError ' +
    'NotReadableError NotSupportedError OperationError OptOutError QuotaExceededError ReadOnlyError SecurityError ' +
    'TimeoutError TransactionInactiveError TypeMismatchError UnknownError VersionError WrongDocumentError'
  ).split(' '),
);

/** True for a class that the language or the platform throws itself, with a different message in each engine. */
export function isNativeClass(name: string): boolean {
  return NATIVE_CLASSES.has(name);
}

/** Unifies class names that differ between engines. */
export function unifyClass(name: string, message: string): string {
  if (name === 'InternalError' && /^too much recursion/.test(message)) return 'RangeError';
  return name;
}

interface NativeDetail {
  /** What failed, in the same words for all engines. */
  readonly detail: string;
  /** The missing property. It can be data if it was computed. */
  readonly property?: string;
  /** The message does not show the place, so the source is used if it is known. */
  readonly isVague?: true;
}

type ReadDetail = (found: RegExpExecArray) => NativeDetail;

const named =
  (words: string): ReadDetail =>
  () => ({ detail: words });
const vague =
  (words: string): ReadDetail =>
  () => ({ detail: words, isVague: true });
const property: ReadDetail = ([, name = '']) => ofProperty(name);
const global: ReadDetail = ([, name = '']) => ({ detail: `${name} is not defined` });
/** The last name of the expression that was called, or nothing if that is a variable's. */
const called: ReadDetail = ([, text = '']) => {
  const name = /[.#]([A-Za-z_$][\w$]*)$/.exec(text)?.[1];
  return name ? { detail: `.${name}()`, property: name } : { detail: '()' };
};

function ofProperty(name: string): NativeDetail {
  return isName(name) ? { detail: `.${name}`, property: name } : { detail: '.' };
}

function isName(text: string): boolean {
  return /^[A-Za-z_$#][\w$]{0,99}$/.test(text);
}

/** Tried in order, on at most 500 characters. */
const WORDINGS: readonly (readonly [RegExp, ReadDetail])[] = [
  // V8
  [/^Cannot (?:read|set) propert(?:y|ies) of (?:undefined|null) \((?:reading|setting) '(.*)'\)$/, property],
  [/^Cannot (?:read|set) property '(.*)' of (?:undefined|null)$/, property],
  [/^Cannot destructure '?|^Right side of assignment cannot be destructured/, vague('destructure')],
  // SpiderMonkey
  [/^can't access property Symbol\.iterator, /, vague('iterate')],
  [/^can't access property "(.*?)"(?: of |, )/, property],
  [/^can't access property ([^\s,"]+)(?: of |, )/, property],
  // JSC: `undefined is not an object (evaluating 'e.customer.total')`
  [/^(?:undefined|null) is not an object \(evaluating '(.*)'\)$/, readEvaluated],

  [/is not iterable|^Spread syntax requires| is not a function \(near '/, vague('iterate')],
  [/^(.*?) is not a function(?:$|\. \(In )/, called],
  [/^(.*?) is not a constructor(?:$|[.;] | \(evaluating )/, named('new')],
  [/^([\w$]+) is not defined$/, global],
  [/^Can't find variable: ([\w$]+)$/, global],
  [/before initialization\.?$|^Cannot access uninitialized variable/, named('before initialization')],
  [/^(?:Cannot convert undefined or null to object|can't convert (?:undefined|null) to object)$/, vague('to object')],
  [
    /^(?:Cannot (?:read|write) private member #|can't (?:access|set) private field|Cannot access invalid private field)/,
    named('private'),
  ],
  [/^(?:Maximum call stack size exceeded|too much recursion)/, named('recursion')],
  [
    /^(?:Cannot assign to read only property|Cannot set property \S+ of .* which has only a getter|"?.*"? is read-only$|setting getter-only property|Attempted to assign to readonly property)/,
    named('read-only'),
  ],
  [
    /^(?:Cannot add property .*, object is not extensible|can't define property .*: .* is not extensible|Attempting to define property on object that is not extensible)/,
    named('not extensible'),
  ],
  [/ is (?:undefined|null)$/, vague('destructure')],
  [/^(?:All promises were rejected|No Promise in Promise\.any was resolved|)$/, named('')],
  [/^[Rr]educe of empty array with no initial value/, named('reduce')],
  [
    /^Class constructor \S* cannot be invoked|^class constructors must be invoked|^Cannot call a class constructor/,
    named('class'),
  ],
];

/** Reads `e.customer.total` or `e.total=1`. A call is that of a native function, which refused its argument. */
function readEvaluated([, expression = '']: RegExpExecArray): NativeDetail {
  if (/^(?:let|const|var)\b.*\bof\b/.test(expression)) return { detail: 'iterate', isVague: true };
  const target = expression.replace(/(?<![=!<>])=(?![=>]).*$/, '').trimEnd();
  if (target.endsWith(')')) return { detail: 'to object', isVague: true };
  const name = /\.([A-Za-z_$#][\w$]*)$/.exec(target)?.[1];
  return name ? ofProperty(name) : { detail: '.' };
}

/** Returns undefined for a message that no engine uses. */
export function readNativeDetail(message: string): NativeDetail | undefined {
  const text = message.slice(0, 500);
  for (const [wording, toDetail] of WORDINGS) {
    const found = wording.exec(text);
    if (found) return toDetail(found);
  }
  return undefined;
}

/** The part of a message that a digest uses (UTF-16 code units). */
const MAX_MASKED_LENGTH = 300;

/**
 * Returns the first line of a message without what differs between requests: quoted values, URLs, paths, addresses,
 * dates, and any word with a digit in it.
 */
export function maskMessage(message: string): string {
  return message
    .slice(0, Math.min(findLineEnd(message), MAX_MASKED_LENGTH))
    .replace(/"[^"]*"|(?<![\w])'[^']*'|`[^`]*`|\u201c[^\u201d]{0,300}\u201d/g, '?')
    .replace(/\b[a-z][a-z0-9+.-]{0,20}:\/\/\S+/gi, '?')
    .replace(/(?<!\S)\S+@\S+/g, '?')
    .replace(/(?:[A-Za-z]:)?[\\/][^\s,;)]+/g, '?')
    .replace(/(?<!\S)\S*\d\S*/g, '?')
    .replace(/\s+/g, ' ')
    .trim();
}

/** True if the first line is longer than the part that is read. */
export function isMaskedInPart(message: string): boolean {
  return findLineEnd(message) > MAX_MASKED_LENGTH;
}

function findLineEnd(message: string): number {
  const end = message.search(/[\r\n\u2028\u2029]/);
  return end < 0 ? message.length : end;
}

const REACT_NUMBER = /^Minified React error #(\d{1,4});/;

/** React's errors for a mismatch between what the server sent and what the browser rendered. */
const HYDRATION_NUMBERS = new Set(['418', '421', '425']);
const HYDRATION = /^(?:Hydration failed because|Text content does not match server-rendered|A tree hydrated but)/;

/** React's wrappers around an error while hydrating; the failure is their cause. */
const WRAPPER_NUMBERS = new Set(['419', '422', '423']);
const WRAPPER =
  /^(?:There was an error while hydrating|The server could not finish this Suspense boundary|Switched to client rendering because)/;

const LOAD =
  /^(?:Failed to fetch dynamically imported module|error loading dynamically imported module|Importing a module script failed|Unable to preload CSS|Loading (?:CSS )?chunk )/i;

/** Error classes of bundlers, and of the engine's router. */
const LOAD_CLASSES = new Set(['ChunkLoadError', 'RouteLoadError']);

const NETWORK =
  /^(?:Failed to fetch|NetworkError when attempting to fetch resource|Load failed|fetch failed|Network request failed|The network connection was lost|The Internet connection appears to be offline)\.?(?: \([^)]{1,200}\))?$/;

/** Returns the number of a minified React error, whose message is left out in production. */
export function readReactNumber(message: string): string | undefined {
  return REACT_NUMBER.exec(message)?.[1];
}

/** True for an error that only wraps another: React's boundary, or the component stack that an SDK adds as a cause. */
export function isSynthetic({ class: name, message }: ErrorRecord): boolean {
  if (name.startsWith('React ErrorBoundary')) return true;
  return WRAPPER.test(message) || WRAPPER_NUMBERS.has(readReactNumber(message) ?? '');
}

/** Derives the kind of failure from an error's message. Not for errors that the application made itself. */
export function kindOf({ class: name, message, frames }: ErrorRecord): FailureKind {
  if (name === 'AbortError' || name === 'TimeoutError') return 'timeout';
  if (HYDRATION.test(message) || HYDRATION_NUMBERS.has(readReactNumber(message) ?? '')) return 'hydration';
  if (LOAD.test(message) || LOAD_CLASSES.has(name) || isLoadEvent(name, frames)) return 'load';
  if (name === 'TypeError' && NETWORK.test(message)) return 'network';
  if (/^(?:Uncaught )?Script error\.?$/.test(message) && frames.every(({ file }) => file === '')) return 'script-error';
  return 'exception';
}

/** True for the report of the page's first script about an element that did not load: a class, and no place. */
function isLoadEvent(name: string, frames: ErrorRecord['frames']): boolean {
  return name === 'LoadError' && frames.length === 0;
}
