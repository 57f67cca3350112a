/**
 * Names whose values are secrets wherever they stand: headers, fields, query keys, environment.
 * Spelled in words; `toWords` makes the same of `apiKey`, `API_KEY` and `api-key`.
 */
const SECRET_KEYS: readonly string[] = [
  'password',
  'passwd',
  'passphrase',
  'pwd',
  'pass',
  'secret',
  'token',
  'authorization',
  'authentication',
  'auth',
  'bearer',
  'jwt',
  'credential',
  'cookie',
  'session',
  'sid',
  'csrf',
  'xsrf',
  'api key',
  'access key',
  'private key',
  'signing key',
  'encryption key',
  'license key',
  'signature',
  'sig',
  'saml response',
  'code verifier',
  'connection string',
  'otp',
  'totp',
  'pin',
  'credit card',
  'card number',
  'cvv',
  'cvc',
  'iban',
  'ssn',
];

/** Names that are harmless in data (`code: 'ENOENT'`, `key: 'orders'`), and carry secrets in addresses, where they stand alone: OAuth's codes, keys of maps, tickets of sign-in. */
const SECRET_QUERY_KEYS: ReadonlySet<string> = new Set(['code', 'key', 'ticket']);

/** From this length (letters) a name is recognised inside a longer one (`userpassword`); a shorter one only as a word of its own, for `pin` is in `shipping`. */
const MIN_LENGTH_INSIDE = 5;

/** What is read of a name (characters), and how many names are remembered (a count). */
const MAX_KEY_LENGTH = 100;
const MAX_REMEMBERED = 1000;

export interface SecretKeys {
  /** The name of a field, header or variable whose value is a secret. */
  isSecret(name: string): boolean;
  /** The name of a query parameter whose value is one. */
  isSecretInQuery(name: string): boolean;
}

/** @param more names that the owner adds; case and separators do not matter */
export function createSecretKeys(more: readonly string[] = []): SecretKeys {
  const isSecret = remember(createMatcher([...SECRET_KEYS, ...more]));
  return {
    isSecret,
    isSecretInQuery: (name) => isSecret(name) || SECRET_QUERY_KEYS.has(name.toLowerCase()),
  };
}

function createMatcher(keys: readonly string[]): (name: string) => boolean {
  const rules = keys.map(toWords).filter((words) => words.length > 0);
  const inside = rules.map((words) => words.join('')).filter((flat) => flat.length >= MIN_LENGTH_INSIDE);
  const phrases = rules.map((words) => ` ${words.join(' ')} `);
  const flats = new Set(rules.map((words) => words.join('')));
  return (name) => {
    const words = toWords(name);
    const flat = words.join('');
    const phrase = ` ${words.join(' ')} `;
    return flats.has(flat) || inside.some((key) => flat.includes(key)) || phrases.some((key) => phrase.includes(key));
  };
}

/** `X-Api-Key`, `xApiKey` and `x_api_key` are all `x api key`. */
function toWords(name: string): string[] {
  const words = name.slice(0, MAX_KEY_LENGTH).match(/\p{Lu}+(?!\p{Ll})|\p{L}\p{Ll}*|\p{N}+/gu) ?? [];
  return words.map((word) => word.toLowerCase());
}

/** The same few names come again with every failure. */
function remember(ask: (name: string) => boolean): (name: string) => boolean {
  const answers = new Map<string, boolean>();
  return (name) => {
    const known = answers.get(name);
    if (known !== undefined) return known;
    const answer = ask(name);
    if (answers.size >= MAX_REMEMBERED) answers.clear();
    if (name.length <= MAX_KEY_LENGTH) answers.set(name, answer);
    return answer;
  };
}
