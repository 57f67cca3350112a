/**
 * Cut where a word ends, for half a secret is one that nothing knows by its value or its shape. A word
 * that is longer than `maxWord` is cut all the same. Lengths are UTF-16 code units.
 */
export function cutAtWord(text: string, length: number, maxWord: number): string {
  if (text.length <= length) return text;
  let end = length;
  while (end > length - maxWord && /\S/.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
