/**
 * What a terminal obeys in the place of showing it: control characters of both sets (ESC, CSI, BEL,
 * backspace, a lone CR), what turns the direction of writing or hides letters, separators of lines, and
 * halves of a surrogate pair. The two joiners that scripts and emoji need are left.
 */
const OBEYED = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * One line as it may stand on a terminal. Whatever strangers sent (messages, URLs, user agents) is told
 * in visible characters: `\x1b[2J`, `\u{202e}`.
 */
export function toClean(text: string): string {
  return text.replaceAll('\t', '  ').replace(OBEYED, toVisible);
}

/** Each line of it clean. */
export function toCleanLines(text: string): string[] {
  return text.split(/\r?\n/).map(toClean);
}

function toVisible(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u{${code}}`;
}

/** JSON that can be looked at: in it the same characters are escaped, and read back as what they were. */
export function toCleanJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(OBEYED, (character) =>
    character === '\n' ? character : character.split('').map(toEscape).join(''),
  );
}

/** @param unit of UTF-16 */
function toEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
