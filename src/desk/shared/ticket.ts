/** Search key of a sign-in link, and field of its form. Its values are kept out of all records. */
export const TICKET_KEY = 'ticket';

/** Signs in by a ticket, and leads to the site. */
export const START_PATH = '/desk/start';
