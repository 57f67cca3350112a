/** Returns undefined for a broken escape, and for bytes that are not UTF-8. */
export function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Returns the text as it is, and decoded. */
export function withDecoded(text: string): string[] {
  return [text, decodePercent(text) ?? text];
}
