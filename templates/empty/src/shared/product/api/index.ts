/** The operations of the API. Their handlers are in `src/server/product/api`. */
export const api = {};

/** For clients: `createClient<Api>()`. */
export type Api = typeof api;
