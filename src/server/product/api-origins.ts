import type { ApiOrigins } from '../engine/http/api-origins.ts';

/** Other origins whose scripts may call `/api`, such as `['https://app.example.com']`. */
export const apiOrigins: ApiOrigins = [];
