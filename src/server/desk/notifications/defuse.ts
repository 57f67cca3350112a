/** Characters that are not seen, or that turn the direction of others: controls, format characters, separators of lines. */
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu;

/** A space that takes no room. */
const BREAK = '\u200B';

/**
 * Takes from a stranger's words what a program that shows them may make a link or a mention of, even
 * where it finds addresses by itself: `https://`, `evil.example`, `@here`, `](`. What is read stays the same. It
 * is one line, and no longer than said.
 *
 * @param maxLength characters
 */
export function defuse(text: string, maxLength = 250): string {
  const line = text.toWellFormed().replace(UNSEEN, ' ').replace(/\s+/g, ' ').trim();
  const cut = line.length > maxLength ? `${line.slice(0, maxLength - 1).toWellFormed()}…` : line;
  return cut
    .replaceAll('@', `@${BREAK}`)
    .replace(/:(?=\/\/)/g, `:${BREAK}`)
    .replace(/\b(mailto|tel|javascript|data)(:)/gi, `$1${BREAK}$2`)
    .replace(/\](?=[([:])/g, `]${BREAK}`)
    .replace(/(?<=[\p{L}\d-])\.(?=\p{L}{2})/gu, `.${BREAK}`);
}
