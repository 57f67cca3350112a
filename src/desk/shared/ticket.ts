import { DESK_PATH } from './href.ts';

/** Search key of a sign-in link, and field of its form. Its values are kept out of all records. */
export const TICKET_KEY = 'ticket';

/** Signs in by a ticket, and leads to the site. */
export const START_PATH = `${DESK_PATH}/start`;

/** The refusal by which a page knows that the form to sign in was sent too often. Other forms can get 429 too. */
export const TOO_MANY = 'Too many failed sign-ins. Wait a minute, then try again.';
