import type { OwnersReporting } from '../engine/owners-files.ts';

/** How failures are told apart: `splitBy` keeps those of one place apart on purpose. */
export const reporting: OwnersReporting = {};
