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

type Reading = (found: RegExpExecArray) => NativeDetail;

const named =
  (words: string): Reading =>
  () => ({ detail: words });
const vague =
  (words: string): Reading =>
  () => ({ detail: words, isVague: true });
const property: Reading = ([, name = '']) => ofProperty(name);
const global: Reading = ([, name = '']) => ({ detail: `${name} is not defined` });
/** The last name of the expression that was called, or nothing if that is a variable's. */
const called: Reading = ([, text = '']) => {
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
const WORDINGS: readonly (readonly [RegExp, Reading])[] = [
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
