/** Finds the first node within a node of a syntax tree, an outer one before those in it. */
export function findNode(within, test) {
  for (const value of Object.values(within ?? {})) {
    if (typeof value !== 'object' || value === null) continue;
    const found = value.type && test(value) ? value : findNode(value, test);
    if (found) return found;
  }
  return undefined;
}
