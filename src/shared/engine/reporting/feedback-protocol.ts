import { KiB } from '../../units.ts';

/** In the search of a page's address: what is posted there is what a visitor said of a failure. */
export const FEEDBACK_KEY = '_feedback';

/** The fields of such a form. */
export const FEEDBACK_FIELDS = { address: 'address', text: 'text', email: 'email' } as const;

/** A field that people do not see: what fills it in is a program. */
export const FEEDBACK_TRAP = 'website';

/** Longest text (characters). */
export const MAX_FEEDBACK_LENGTH = 4 * KiB;
