import { fileURLToPath } from 'node:url';

/** Arguments of Node for a file of TypeScript that imports an index of the engine. */
export const TYPESCRIPT = ['--import', fileURLToPath(new URL('./engine-by-name.mjs', import.meta.url))];
