/**
 * Cuts a text at the end of a word, because half a secret cannot be recognized by its value or its shape. A word that
 * is longer than `maxWord` is cut anyway. Lengths are UTF-16 code units.
 */
export function cutAtWord(text: string, length: number, maxWord: number): string {
  if (text.length <= length) return text;
  let end = length;
  while (end > length - maxWord && /\S/.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
