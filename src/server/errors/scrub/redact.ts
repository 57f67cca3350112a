/** Replaces a secret. */
export const REDACTED = '[redacted]';

const PRIVATE_KEY =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g;

/** `https://user:pass@host`. */
const URL_CREDENTIALS = /(?<![a-z0-9+.-])([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/?#"'<>\\]{1,256}@/gi;

/** `postgres://user:p/ss@host`: in a connection string, people do not encode slashes. */
const CONNECTION_STRING =
  /(?<![a-z0-9+.-])((?!https?:|wss?:)[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/:?#"'<>\\]{0,100}:[^\s"'<>\\]{1,256}@/gi;

/** Words joined by dots. They are matched whole: a token can begin anywhere in them, and each start would cost a search. */
const DOTTED = /[\w.-]+/g;
/** Signed tokens: two to five parts in base64url, of which the first is a JSON object. */
const JWT_START = /\beyJ[\w-]{5}/;
const MAX_JWT_PARTS = 5;

const SCHEME = /\b(bearer|basic|negotiate)(\s{1,3})([\w\-.~+/=]{4,})/gi;

/** `Bearer authentication failed` describes an error. */
const SCHEME_WORD = /^[A-Z]?[a-z]{1,20}[.:]?$/;

/**
 * Keys with the prefix of a known service: AWS, GitHub, GitLab, Stripe, Slack, Google, npm, OpenAI and Anthropic,
 * SendGrid, Telegram, Discord, Hugging Face, Shopify, DigitalOcean, Vault, PyPI, Google OAuth, Linear, Supabase, age,
 * Azure. Then hashes of passwords: bcrypt, Argon2, scrypt, and the format of better-auth.
 */
const KNOWN_KEYS = [
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/,
  /\bgh[opsur]_[A-Za-z0-9]{20,255}/,
  /\bgithub_pat_\w{20,255}/,
  /\bglpat-[\w-]{20,255}/,
  /\b[rs]k_(?:live|test)_[A-Za-z0-9]{10,255}/,
  /\bwhsec_[\w+/=]{10,255}/,
  /\bxox[a-z]-[\w-]{10,255}/,
  /\bxapp-[\w-]{10,255}/,
  /\bhooks\.slack\.com\/services\/[\w/]{10,255}/,
  /\bAIza[\w-]{35}/,
  /\bya29\.[\w-]{20,255}/,
  /\bnpm_[A-Za-z0-9]{30,255}/,
  /\bsk-[\w-]{20,255}/,
  /\bSG\.[\w-]{16,255}\.[\w-]{16,255}/,
  /\bapi\.telegram\.org\/(?:file\/)?bot\d{5,20}:[\w-]{20,255}/,
  /\bdiscord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks\/\d{5,25}\/[\w-]{20,255}/,
  /\bhf_[A-Za-z0-9]{20,255}/,
  /\bshp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}/,
  /\bdo[oprt]_v1_[a-f0-9]{64}/,
  /\bhv[bsr]\.[\w-]{24,255}/,
  /\bpypi-AgE[\w-]{16,255}/,
  /\bGOCSPX-[\w-]{20,255}/,
  /\blin_api_[A-Za-z0-9]{20,255}/,
  /\bsbp_[a-f0-9]{40}/,
  /\bAGE-SECRET-KEY-1[A-Z0-9]{20,255}/,
  /\bAccountKey=[\w+/=]{20,255}/,
  /\$2[abxy]\$\d\d\$[\w./]{20,53}/,
  /\$(?:argon2(?:id?|d)|scrypt)\$[\w./$=+,-]{20,255}/,
  /\b[a-f0-9]{32}:[a-f0-9]{128}\b/,
];
const KNOWN_KEY = new RegExp(KNOWN_KEYS.map(({ source }) => source).join('|'), 'g');

/** Not `logo@2x.png`. */
const EMAIL =
  /(?<![\w.+%-])[\w.+%-]{1,64}(?:@|%40)(?!\dx\.)(?:[\w-]{1,63}\.){1,8}(?!(?:m?js|cjs|tsx?|jsx|css|map|json|png|jpe?g|gif|svg|webp|avif)\b)[a-z]{2,24}\b/gi;

/**
 * Lengths of card numbers by their first digit (ISO/IEC 7812, as issued). Thirteen digits can also be a time in
 * milliseconds, so only Visa's are matched.
 */
const CARD_LENGTHS: Readonly<Record<string, readonly number[]>> = {
  2: [16],
  3: [14, 15, 16],
  4: [13, 16, 19],
  5: [16],
  6: [16, 17, 18, 19],
};

/** The start of 12 to 19 digits in groups. */
const CARD_START = /(?<!\w)[2-6]\d{3}(?:[ -]?\d){8,15}/g;

/** The values of a failed query, as Drizzle adds them to its message. */
const QUERY_PARAMETERS = /(?<=\nparams: )[\s\S]+/;

/** A text in a list of SQL, or the rest of one that was cut. */
const SQL_TEXT = /(?<=[(,]\s{0,20})'(?:[^'\\]|\\[\s\S]|'')*(?:'|$)/g;

/** Redacts secrets that their shape identifies, under any name. Takes time proportional to the text's length. */
export function redactShapes(text: string): string {
  let rest = text;
  if (rest.includes('-----BEGIN')) rest = rest.replace(PRIVATE_KEY, REDACTED);
  if (rest.includes('://')) {
    rest = rest.replace(CONNECTION_STRING, `$1${REDACTED}@`).replace(URL_CREDENTIALS, `$1${REDACTED}@`);
  }
  if (rest.includes('eyJ')) rest = rest.replace(DOTTED, redactTokens);
  if (/\s/.test(rest)) rest = rest.replace(SCHEME, redactCredential);
  rest = rest.replace(KNOWN_KEY, REDACTED);
  if (rest.includes('Failed query: ')) rest = rest.replace(QUERY_PARAMETERS, REDACTED);
  rest = redactInserted(rest);
  if (rest.includes('@') || rest.includes('%40')) rest = rest.replace(EMAIL, REDACTED);
  return redactCards(rest);
}

/** Values that are written in an INSERT are far from the names of their columns. */
function redactInserted(text: string): string {
  const insert = text.search(/\binsert\s{1,20}into\b/i);
  const values = insert < 0 ? -1 : text.slice(insert).search(/\bvalues\s{0,20}\(/i);
  if (values < 0) return text;
  const from = insert + values;
  return text.slice(0, from) + text.slice(from).replace(SQL_TEXT, `'${REDACTED}'`);
}

function redactTokens(dotted: string): string {
  const parts = dotted.split('.');
  const kept: string[] = [];
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at] ?? '';
    const start = at + 1 < parts.length ? part.search(JWT_START) : -1;
    kept.push(start < 0 ? part : part.slice(0, start) + REDACTED);
    if (start >= 0) at += MAX_JWT_PARTS - 1;
  }
  return kept.join('.');
}

function redactCredential(written: string, scheme: string, space: string, credential: string): string {
  return SCHEME_WORD.test(credential) ? written : `${scheme}${space}${REDACTED}`;
}

function redactCards(text: string): string {
  CARD_START.lastIndex = 0;
  let result = '';
  let copied = 0;
  for (let match = CARD_START.exec(text); match; match = CARD_START.exec(text)) {
    const length = toCardLength(match[0], text.charAt(match.index + match[0].length));
    if (length > 0) {
      result += text.slice(copied, match.index) + REDACTED;
      copied = match.index + length;
      CARD_START.lastIndex = copied;
    } else {
      // A card number can begin within digits that are not one: `2026 4111 1111 1111 1111`.
      CARD_START.lastIndex = match.index + 4;
    }
  }
  return copied === 0 ? text : result + text.slice(copied);
}

/** Returns how many characters of a run are a card number: all of it, the groups at its start, or 0. */
function toCardLength(run: string, next: string): number {
  for (let end = run.length; end >= 13; end -= 1) {
    const after = end === run.length ? next : run.charAt(end);
    if (/\w/.test(after) || /[ -]/.test(run.charAt(end - 1))) continue;
    if (isCardNumber(run.slice(0, end).replace(/[ -]/g, ''))) return end;
  }
  return 0;
}

/** Checks the length and the Luhn sum. */
function isCardNumber(digits: string): boolean {
  if (!CARD_LENGTHS[digits.charAt(0)]?.includes(digits.length)) return false;
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits.charAt(digits.length - 1 - index));
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** Shorter values also occur in harmless words, so only their names identify them (UTF-16 code units). */
const MIN_LENGTH = 8;

/** The part of a value that identifies it (UTF-16 code units). What follows in a text is redacted as far as it is the same. */
const START_LENGTH = 64;

/** Values of one request (count). A browser sends at most 180 cookies, and few of them have as many characters. */
const MAX_VALUES = 128;

/** Secret values that are recognized in any place. */
export interface KnownValues {
  redact(text: string): string;
  with(values: readonly string[]): KnownValues;
  /** Strangers choose these values, so only the longest 128 are added. */
  withRequest(values: readonly string[]): KnownValues;
}

function build(spellings: readonly string[]): KnownValues {
  const redact = createRedact(spellings);
  function add(more: readonly string[]): KnownValues {
    const added = toSpellings(more);
    return added.length === 0 ? known : build([...spellings, ...added]);
  }
  const known: KnownValues = {
    redact,
    with: add,
    withRequest: (values) => add(longestFirst([...new Set(values)]).slice(0, MAX_VALUES)),
  };
  return known;
}

export const NO_VALUES = build([]);

/**
 * Finds all values in one pass. A loop over them would multiply two numbers that strangers choose: values of a request
 * and texts of a report.
 */
function createRedact(spellings: readonly string[]): (text: string) => string {
  if (spellings.length === 0) return (text) => text;
  const byStart = Map.groupBy(spellings.toSorted(), (spelling) => spelling.slice(0, START_LENGTH));
  const starts = longestFirst([...byStart.keys()]).map(RegExp.escape);
  const start = new RegExp(starts.join('|'), 'g');
  return function redact(text) {
    let result = '';
    let copied = 0;
    start.lastIndex = 0;
    for (let match = start.exec(text); match; match = start.exec(text)) {
      result += text.slice(copied, match.index) + REDACTED;
      copied = match.index + measureKnown(text, match.index, byStart.get(match[0]) ?? []);
      start.lastIndex = copied;
    }
    return copied === 0 ? text : result + text.slice(copied);
  };
}

/** Returns how much of a text, from `index` on, is the same as one of these values, which have the same start. */
function measureKnown(text: string, index: number, sorted: readonly string[]): number {
  const rest = text.slice(index);
  let low = 0;
  for (let high = sorted.length; low < high; ) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? '') < rest) low = middle + 1;
    else high = middle;
  }
  // The one with the longest same part is next to where the text would be in the list.
  return Math.max(countSame(rest, sorted[low - 1] ?? ''), countSame(rest, sorted[low] ?? ''));
}

function countSame(one: string, other: string): number {
  let count = 0;
  while (count < other.length && one.charCodeAt(count) === other.charCodeAt(count)) count += 1;
  return count;
}

function toSpellings(values: readonly string[]): string[] {
  const spellings = values
    .map((value) => value.trim())
    .filter((value) => value.length >= MIN_LENGTH && !REDACTED.includes(value))
    .flatMap((value) => [value, encodeForUrl(value), JSON.stringify(value).slice(1, -1)]);
  return [...new Set(spellings)];
}

/** Sorts so that no rest of a longer value remains. */
function longestFirst(texts: readonly string[]): string[] {
  return texts.toSorted((one, other) => other.length - one.length);
}

/** A lone surrogate cannot be encoded in a URL. */
export function encodeForUrl(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
