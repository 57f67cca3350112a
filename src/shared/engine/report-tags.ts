/** Tags with which our own browser code tells the tunnel what an event is. They are checked, and not passed on. */

/** The address of the server's failure that this error shows: `7K3QM2XA-9F4W0R6B`. */
export const ECHO_TAG = 'spillway.echo';

/** A kind that has a key of its own, such as `hydration`. */
export const KIND_TAG = 'spillway.kind';

/** The pattern of the route: `/orders/:id`. */
export const ROUTE_TAG = 'spillway.route';

/** The id of the request that rendered the page. */
export const REQUEST_TAG = 'spillway.request';
