/**
 * Characters that a terminal interprets instead of showing: control characters of both sets (ESC, CSI, BEL, backspace,
 * a lone CR), characters that change the writing direction or are invisible, line separators, and lone surrogates. It
 * leaves the two joiners that scripts and emoji need.
 */
const OBEYED = /(?!\u200c|\u200d|\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Makes text safe to print. Untrusted text (messages, URLs, user agents) gets visible escapes: `\x1b[2J`. */
export function toClean(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll('\t', '  ').replace(OBEYED, toVisible);
}

/** Embeddings, overrides and isolates: they change in which order browsers show the text after them. */
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/g;

/** Makes text safe to show on a page, and the same on server and in browser: HTML would replace a lone surrogate. */
export function toShown(text: string): string {
  return text.toWellFormed().replace(REORDERING, toVisible);
}

function toVisible(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u{${code}}`;
}

/** Returns JSON that is safe to print. The same characters are escaped, so that it parses to the same value. */
export function toCleanJson(value: unknown): string {
  const toEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, null, 2).replace(OBEYED, (character) => character.split('').map(toEscape).join(''));
}
