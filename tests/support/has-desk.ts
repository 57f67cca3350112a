import { existsSync } from 'node:fs';

/** Whether this app has the desk, which owners can delete. */
export const hasDesk = existsSync(new URL('../../src/desk', import.meta.url));
