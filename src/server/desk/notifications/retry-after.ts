import { Second } from '../../../shared/units.ts';

/** A `Retry-After` in seconds or as a date. @returns milliseconds; 0 where it says nothing */
export function readRetryAfter(text: string | undefined, now: number): number {
  if (text === undefined) return 0;
  if (/^\s*\d{1,9}\s*$/.test(text)) return Number(text) * Second;
  const at = Date.parse(text);
  return Number.isNaN(at) ? 0 : Math.max(0, at - now);
}
