import { KiB } from '../../units.ts';

/** Key in a page's search: a form posted to such a URL is a visitor's feedback on a failure. */
export const FEEDBACK_KEY = '_feedback';

/** Field names of the feedback form. */
export const FEEDBACK_FIELDS = { address: 'address', text: 'text', email: 'email' } as const;

/** A field that people do not see. Only bots fill it in. */
export const FEEDBACK_TRAP = 'website';

/** Longest text (characters). */
export const MAX_FEEDBACK_LENGTH = 4 * KiB;
