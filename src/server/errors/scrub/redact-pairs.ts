import { REDACTED } from './redact.ts';
import type { SecretKeys } from './secret-keys.ts';

/**
 * A name and the characters between it and its value: `password=`, `"password": `, `\"password\":`, `user[password]=`,
 * `'password' =>`, `password%3D`, `%22password%22%3A%22`.
 */
const NAME = /(?<![\w.-])([\w.-]{1,64})\]?(?:\\{0,3}["'`]|%22)?(?:\s{0,20}[:=]>?\s{0,20}|%3[AaDd](?:%20|%22){0,2})/g;

/** The same of a field: `{ name: 'password', value: `, `name="password" value=`, and in a multipart body. */
const FIELD =
  /(?<![\w.-])(?:name|key)(?:\\{0,3}["'`])?\s{0,20}[:=]\s{0,20}\\{0,3}["'`]([\w.-]{1,64})\\{0,3}["'`](?:\r\n\r\n|[\s,]{1,20}(?:\\{0,3}["'`])?value(?:\\{0,3}["'`])?\s{0,20}[:=]\s{0,20})/gi;

/** `<wsse:Password Type="x">` and its text. */
const ELEMENT = /(<([\w:.-]{1,64})(?:\s[^<>]{0,200}[^<>/])?>)([^<>]+)(?=<\/)/g;

/** How MySQL and PostgreSQL name a value that a unique key has already. */
const MYSQL_DUPLICATE = /\b(Duplicate entry ')[^'\n]+(' for key '([^'\n]{1,200})')/g;
const POSTGRES_DUPLICATE = /\b(Key \(([^()]{1,200})\)=\()[^)\n]+/g;

/** Headers whose value reaches to the end of the line. */
const LINE_HEADER = /^(?:proxy-)?authorization$|^(?:set-)?cookie2?$/i;

const WORD_VALUE = /^[A-Za-z]{1,15}$/;
const MAY_BE_A_WORD = /pass|pwd|secret/i;

/** Where a bare value ends. */
const VALUE_END = /[\s,;&"'`<>)}\]\\]/g;
const ENCODED_END = /[\s,;&"'`<>)}\]\\]|%(?:2[26C]|7D)/gi;
/** Where the line of a header ends, also in text that was written as JSON. */
const HEADER_END = /[\r\n]|\\[rn]/g;

/** What follows on a line below is a stack, or an excerpt of code. */
const INDENTED = /[\r\n][^\S\r\n]{3}/;

/**
 * Redacts the values of secret names in running text: query strings, dumped headers, JSON and inspected objects in a
 * message. After `?`, `&` and `#`, names are matched as in a query.
 */
export function redactPairs(text: string, keys: SecretKeys): string {
  let rest = text;
  if (rest.includes('[')) rest = redactLists(rest, keys);
  if (rest.includes('</')) {
    rest = rest.replace(ELEMENT, (written, tag: string, name: string, value: string) =>
      keys.isSecret(name) && value.trim() !== '' ? tag + REDACTED : written,
    );
  }
  if (rest.includes('Duplicate entry')) {
    rest = rest.replace(MYSQL_DUPLICATE, (written, before: string, after: string, name: string) =>
      keys.isSecret(name) ? before + REDACTED + after : written,
    );
  }
  if (rest.includes('Key (')) {
    rest = rest.replace(POSTGRES_DUPLICATE, (written, before: string, names: string) =>
      keys.isSecret(names) ? before + REDACTED : written,
    );
  }
  if (!/[:=]|%3[AD]/i.test(rest)) return rest;
  return redactAfter(NAME, redactAfter(FIELD, rest, keys), keys);
}

function redactAfter(pattern: RegExp, text: string, keys: SecretKeys): string {
  let result = '';
  let copied = 0;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const name = match[1] ?? '';
    const inQuery = match.index > 0 && '?&#'.includes(text.charAt(match.index - 1));
    if (!(inQuery ? keys.isSecretInQuery(name) : keys.isSecret(name))) continue;
    const span = findValue(text, pattern.lastIndex, name, match[0]);
    if (span.start === span.end || text.startsWith(REDACTED, span.start)) continue;
    result += text.slice(copied, span.start) + REDACTED;
    copied = span.end;
    pattern.lastIndex = span.end;
  }
  return copied === 0 ? text : result + text.slice(copied);
}

/** Redacts the values of a list of names and values: `[ 'Host', 'x', 'Cookie', 'a=b' ]`. */
function redactLists(text: string, keys: SecretKeys): string {
  let result = '';
  let copied = 0;
  for (let at = text.indexOf('['); at >= 0; ) {
    const { items, end } = readList(text, at + 1);
    for (const [index, { text: value, ...span }] of items.entries()) {
      const name = index % 2 === 1 ? items[index - 1]?.text : undefined;
      if (name === undefined || !LIST_NAME.test(name) || !keys.isSecret(name)) continue;
      if (value === '' || value === REDACTED || isWord(value, name)) continue;
      result += text.slice(copied, span.start) + REDACTED;
      copied = span.end;
    }
    at = text.indexOf('[', end);
  }
  return copied === 0 ? text : result + text.slice(copied);
}

const LIST_NAME = /^[\w.-]{1,64}$/;
const ITEM = /[\s,]{0,40}(\\{0,3}["'`])/y;
const LIST_END = /^[\s,]{0,20}(?:\]|\.{3}|\u2026|$)/;

/** Reads a list of texts. Another list, or one with an odd number, has no items. The text can end in it. */
function readList(text: string, from: number): { items: readonly Item[]; end: number } {
  const items: Item[] = [];
  let end = from;
  ITEM.lastIndex = end;
  for (let match = ITEM.exec(text); match; match = ITEM.exec(text)) {
    const quote = match[1] ?? '';
    const start = ITEM.lastIndex;
    const closing = findClosing(text, start, quote);
    items.push({ start, end: closing, text: text.slice(start, closing) });
    end = Math.min(closing + quote.length, text.length);
    ITEM.lastIndex = end;
  }
  const isPairs = items.length % 2 === 0 && LIST_END.test(text.slice(end, end + 25));
  return { items: isPairs ? items : [], end };
}

/** `Unexpected token: punc` and `[ 'session', 'user' ]` have no secret. But a password can be a plain word. */
function isWord(value: string, name: string): boolean {
  return WORD_VALUE.test(value) && !MAY_BE_A_WORD.test(name);
}

interface Span {
  readonly start: number;
  readonly end: number;
}

interface Item extends Span {
  readonly text: string;
}

function findValue(text: string, from: number, name: string, written: string): Span {
  const opening = /^\\{0,3}["'`]/.exec(text.slice(from, from + 4))?.[0];
  if (opening) {
    const start = from + opening.length;
    return { start, end: findClosing(text, start, opening) };
  }
  if (LINE_HEADER.test(name) && written.includes(':')) return { start: from, end: findEnd(text, from, HEADER_END) };
  if (/[[{]/.test(text.charAt(from))) return { start: from, end: findBracket(text, from) };
  if (INDENTED.test(written)) return { start: from, end: from };
  const end = findEnd(text, from, written.includes('%3') ? ENCODED_END : VALUE_END);
  const isProse = /:\s/.test(written) && isWord(text.slice(from, end), name);
  return isProse ? { start: from, end: from } : { start: from, end };
}

/** Finds the same quote with as many backslashes, or the end of a text that was cut. */
function findClosing(text: string, start: number, quote: string): number {
  const slashes = quote.length - 1;
  for (let at = text.indexOf(quote, start); at >= 0; at = text.indexOf(quote, at + 1)) {
    if (countBackslashes(text, at + slashes) === slashes) return at;
  }
  return text.length;
}

/** Finds the end of a list or an object, or of a text that was cut. */
function findBracket(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (/["'`]/.test(character)) {
      const quote = '\\'.repeat(countBackslashes(text, at)) + character;
      at = findClosing(text, at + 1, quote) + quote.length - 1;
    } else if (/[[{]/.test(character)) depth += 1;
    else if (/[\]}]/.test(character)) depth -= 1;
    if (depth === 0) return at + 1;
  }
  return text.length;
}

function countBackslashes(text: string, before: number): number {
  let count = 0;
  while (count < 8 && text.charAt(before - 1 - count) === '\\') count += 1;
  return count;
}

function findEnd(text: string, from: number, end: RegExp): number {
  end.lastIndex = from;
  const match = end.exec(text);
  return match ? match.index : text.length;
}
