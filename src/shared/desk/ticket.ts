/** In the search of a sign-in link, and the field of its form. A name whose values are kept out of every record. */
export const TICKET_KEY = 'ticket';
