import type { SecretKeys } from './secret-keys.ts';
import { REDACTED } from './secret-patterns.ts';

/**
 * A name and the characters between it and its value: `password=`, `"password": `, `\"password\":`, `user[password]=`,
 * `'password' =>`.
 */
const NAME = /(?<![\w.-])([\w.-]{1,64})\]?(?:\\{0,3}["'`])?\s{0,3}[:=]>?\s{0,3}/g;

/** Headers whose value reaches to the end of the line. */
const LINE_HEADER = /^(?:proxy-)?authorization$|^(?:set-)?cookie2?$/i;

/** `Unexpected token: punc` and `Invalid session: expired` describe an error. A password can be a plain word too. */
const PLAIN_WORD = /^[A-Za-z]{1,15}$/;
const MAY_BE_A_WORD = /pass|pwd|secret/i;

/** Where a bare value ends. */
const VALUE_END = /[\s,;&"'`<>)}\]\\]/g;
const LINE_END = /[\r\n]|\\[rn]/g;

/**
 * Redacts the values of secret names in running text: query strings, dumped headers, JSON and inspected objects in a
 * message. After `?`, `&` and `#`, names are matched as in a query.
 */
export function redactPairs(text: string, keys: SecretKeys): string {
  if (!/[:=]/.test(text)) return text;
  let result = '';
  let copied = 0;
  NAME.lastIndex = 0;
  for (let match = NAME.exec(text); match; match = NAME.exec(text)) {
    const name = match[1] ?? '';
    const inQuery = match.index > 0 && '?&#'.includes(text.charAt(match.index - 1));
    if (!(inQuery ? keys.isSecretInQuery(name) : keys.isSecret(name))) continue;
    const span = findValue(text, NAME.lastIndex, name, match[0]);
    if (span.start === span.end || text.startsWith(REDACTED, span.start)) continue;
    result += text.slice(copied, span.start) + REDACTED;
    copied = span.end;
    NAME.lastIndex = span.end;
  }
  return copied === 0 ? text : result + text.slice(copied);
}

interface Span {
  readonly start: number;
  readonly end: number;
}

function findValue(text: string, from: number, name: string, written: string): Span {
  const opening = /^\\{0,3}["'`]/.exec(text.slice(from, from + 4))?.[0];
  if (opening) {
    const start = from + opening.length;
    return { start, end: findClosing(text, start, opening) };
  }
  if (LINE_HEADER.test(name) && written.includes(':')) return { start: from, end: findEnd(text, from, LINE_END) };
  const end = findEnd(text, from, VALUE_END);
  const isProse = /:\s/.test(written) && PLAIN_WORD.test(text.slice(from, end)) && !MAY_BE_A_WORD.test(name);
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
