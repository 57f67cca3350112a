import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addImports } from './insert.mjs';

/**
 * Plans to add items and their imports to a file.
 *
 * @param {string} file the file to read
 * @param {{
 *   path: string,
 *   imports?: string[],
 *   items: string[],
 *   place: string,
 *   add: (source: string, item: string) => string | undefined
 * }} edit `place` says where the items belong, `add` inserts one of them
 * @returns {import('./new.mjs').Plan['edits'][number]}
 */
export function planEdit(file, { path, imports = [], items, place, add }) {
  const text = items.reduce((source, item) => source && add(source, item), readFileSync(file, 'utf8'));
  return {
    path,
    text: text && addImports(text, imports),
    byHand: `${[...imports, items.join(', ')].join(' ')}, in ${place}`,
  };
}

/** @param {string} root @param {Parameters<typeof planEdit>[1]} edit */
export const planEditIn = (root, edit) => planEdit(join(root, edit.path), edit);
