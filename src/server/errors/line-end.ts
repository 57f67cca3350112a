/** Where a line of JavaScript ends, for engines and in source maps. */
export const LINE_END = /\r\n|[\n\r\u2028\u2029]/;
