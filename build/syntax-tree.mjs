/** Finds the first node within a node of a syntax tree, an outer one before those in it. */
export function findNode(within, test) {
  return findNodes(within, test).next().value;
}

/** Finds all such nodes. */
export function* findNodes(within, test) {
  for (const value of Object.values(within ?? {})) {
    if (typeof value !== 'object' || value === null) continue;
    if (value.type && test(value)) yield value;
    yield* findNodes(value, test);
  }
}
