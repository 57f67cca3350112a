/**
 * Merges `.env.example` by setting. A line-by-line merge would find conflicts between a setting of yours and its
 * neighbours.
 *
 * @param {string} base
 * @param {string} ours
 * @param {string} theirs
 * @returns {string | undefined} undefined if both sides changed the same setting
 */
export function mergeSettings(base, ours, theirs) {
  const [before, mine, next] = [base, ours, theirs].map(readBlocks);
  const merged = [];
  for (const [name, text] of next) {
    const [from, own] = [before.get(name), mine.get(name)];
    if (own === undefined ? text !== from : own === from || own === text) merged.push([name, text]);
    else if (text !== from) return undefined;
    else if (own !== undefined) merged.push([name, own]);
  }
  // Yours stay behind the setting that they follow.
  const names = [...mine.keys()];
  for (const [index, name] of names.entries()) {
    if (before.has(name) || next.has(name)) continue;
    const place = merged.findIndex(([other]) => other === names[index - 1]);
    merged.splice(place < 0 && index > 0 ? merged.length : place + 1, 0, [name, mine.get(name)]);
  }
  return `${merged.map(([, text]) => text).join('\n\n')}\n`;
}

/** Returns the paragraphs of the file by the name of their setting, or by their text. */
function readBlocks(text) {
  const blocks = text.trim().split(/\n{2,}/);
  return new Map(blocks.map((block) => [/^#? ?([A-Z][A-Z0-9_]*)=/m.exec(block)?.[1] ?? block, block]));
}
