import { remember } from '../../request/bounded-map.ts';

/**
 * Names whose values are secret everywhere: headers, fields, query keys and environment variables. They are written as
 * words; `toWords` gives the same result for `apiKey`, `API_KEY` and `api-key`.
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

/**
 * Names that are harmless in data (`code: 'ENOENT'`, `key: 'orders'`), but carry secrets as a query key: OAuth codes,
 * keys of map services, sign-in tickets.
 */
const SECRET_QUERY_KEYS: ReadonlySet<string> = new Set(['code', 'key', 'ticket']);

/**
 * Names with at least this many letters are recognized inside a longer one (`userpassword`). A shorter name must be a
 * separate word, because `pin` is in `shipping`.
 */
const MIN_LENGTH_INSIDE = 5;

/** The part of a name that is read (characters), and how many names are remembered (count). */
const MAX_KEY_LENGTH = 100;
const MAX_REMEMBERED_KEYS = 1000;

export type SecretKeys = ReturnType<typeof createSecretKeys>;

/** @param more the product's additional names; case and separators do not matter */
export function createSecretKeys(more: readonly string[] = []) {
  // The same few names occur in every failure.
  const isSecret = remember(createMatcher([...SECRET_KEYS, ...more]), MAX_REMEMBERED_KEYS, MAX_KEY_LENGTH);
  return {
    /** The name of a field, header or variable whose value is a secret. */
    isSecret,
    /** The name of a query parameter whose value is a secret. */
    isSecretInQuery: (name: string) => isSecret(name) || SECRET_QUERY_KEYS.has(name.toLowerCase()),
  };
}

function createMatcher(keys: readonly string[]): (name: string) => boolean {
  const rules = keys.map(toWords).filter((words) => words.length > 0);
  const flats = new Set(rules.map((words) => words.join('')));
  // Strangers can send thousands of different names in a report, so each name is searched once, not for each rule.
  const inside = new RegExp([...flats].filter((flat) => flat.length >= MIN_LENGTH_INSIDE).join('|'));
  const phrase = new RegExp(` (?:${rules.map((words) => words.join(' ')).join('|')}) `);
  return (name) => {
    const words = toWords(name);
    const flat = words.join('');
    return flats.has(flat) || inside.test(flat) || phrase.test(` ${words.join(' ')} `);
  };
}

/** Turns `X-Api-Key`, `xApiKey` and `x_api_key` into `x api key`. */
function toWords(name: string): string[] {
  const words = name.slice(0, MAX_KEY_LENGTH).match(/\p{Lu}+(?!\p{Ll})|\p{L}\p{Ll}*|\p{N}+/gu) ?? [];
  return words.map((word) => word.toLowerCase());
}
