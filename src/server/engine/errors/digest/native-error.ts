// What the engines' own errors say, in one wording. Each engine words the same failure differently, and
// puts names of variables into it that a minifier has changed; what all three tell is the property, or
// the global that is not defined.

/** Classes of the language, and the names that `DOMException` has. */
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

/** True for a class that the language or the platform throws by itself, in words of each engine's own. */
export function isNativeClass(name: string): boolean {
  return NATIVE_CLASSES.has(name);
}

/** What an engine calls differently from the others. */
export function unifyClass(name: string, message: string): string {
  if (name === 'InternalError' && /^too much recursion/.test(message)) return 'RangeError';
  return name;
}

export interface NativeDetail {
  /** What failed, in the same words for all engines. */
  readonly detail: string;
  /** The property that was missing. It may be data, where it was computed. */
  readonly property?: string;
  /** The words tell nothing of the place: the source tells more, where it has something to tell. */
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
/** The last name of the expression that was called, or nothing of it where that is a variable's. */
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

/** Tried in order. All of them are anchored, and given 500 characters at most. */
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

/** `e.customer.total`, `e.total=1`; a call is that of a function of the language's, which refused what it was given. */
function readEvaluated([, expression = '']: RegExpExecArray): NativeDetail {
  if (/^(?:let|const|var)\b.*\bof\b/.test(expression)) return { detail: 'iterate', isVague: true };
  const target = expression.replace(/(?<![=!<>])=(?![=>]).*$/, '').trimEnd();
  if (target.endsWith(')')) return { detail: 'to object', isVague: true };
  const name = /\.([A-Za-z_$#][\w$]*)$/.exec(target)?.[1];
  return name ? ofProperty(name) : { detail: '.' };
}

/** Undefined for an error whose words no engine uses. */
export function readNativeDetail(message: string): NativeDetail | undefined {
  const text = message.slice(0, 500);
  for (const [wording, toDetail] of WORDINGS) {
    const found = wording.exec(text);
    if (found) return toDetail(found);
  }
  return undefined;
}
