/** The part of a message that a digest uses (UTF-16 code units). */
const MAX_MASKED_LENGTH = 300;

/**
 * Returns the first line of a message without what differs between requests: quoted values, URLs, paths, addresses,
 * dates, and any word with a digit in it.
 */
export function maskMessage(message: string): string {
  return message
    .slice(0, Math.min(findLineEnd(message), MAX_MASKED_LENGTH))
    .replace(/"[^"]*"|(?<![\w])'[^']*'|`[^`]*`|\u201c[^\u201d]{0,300}\u201d/g, '?')
    .replace(/\b[a-z][a-z0-9+.-]{0,20}:\/\/\S+/gi, '?')
    .replace(/(?<!\S)\S+@\S+/g, '?')
    .replace(/(?:[A-Za-z]:)?[\\/][^\s,;)]+/g, '?')
    .replace(/(?<!\S)\S*\d\S*/g, '?')
    .replace(/\s+/g, ' ')
    .trim();
}

/** True if the first line is longer than the part that is read. */
export function isMaskedInPart(message: string): boolean {
  return findLineEnd(message) > MAX_MASKED_LENGTH;
}

function findLineEnd(message: string): number {
  const end = message.search(/[\r\n\u2028\u2029]/);
  return end < 0 ? message.length : end;
}
