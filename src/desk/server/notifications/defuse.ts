/**
 * Invisible characters, and characters that change the writing direction: controls, format characters, line separators.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu;

/** Characters that look the same but format nothing. */
const MARKS: Readonly<Record<string, string>> = { '*': '∗', '`': 'ˋ', '~': '∼' };

/** A zero-width space. */
const BREAK = '\u200B';

/**
 * Prevents programs from turning untrusted text into links or mentions, even if they detect URLs: `https://`,
 * `evil.example`, `@here`, `](`. The text looks the same. It becomes one line and is cut to `maxLength`.
 *
 * @param maxLength characters
 */
export function defuse(text: string, maxLength = 250): string {
  const line = text.toWellFormed().replace(UNSEEN, ' ').replace(/\s+/g, ' ').trim();
  const cut = line.length > maxLength ? `${line.slice(0, maxLength - 1).toWellFormed()}…` : line;
  return cut
    .replaceAll('@', `@${BREAK}`)
    .replaceAll('<', `<${BREAK}`)
    .replace(/[*~`]/g, (mark) => MARKS[mark] ?? mark)
    .replace(/:(?=\/\/)/g, `:${BREAK}`)
    .replace(/\b(mailto|tel|javascript|data)(:)/gi, `$1${BREAK}$2`)
    .replace(/\](?=[([:])/g, `]${BREAK}`)
    .replace(/(?<=[\p{L}\d-])\.(?=\p{L}{2})/gu, `.${BREAK}`);
}
