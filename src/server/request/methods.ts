import type { IncomingMessage } from 'node:http';

/** The methods that Spillway's paths accept, and that metrics and spans name. */
export const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** All of them, for `Allow`. */
export const ALL_METHODS = [...METHODS].join(', ');

/** True for a request that changes nothing and has no body. */
export function isRead({ method }: Pick<IncomingMessage, 'method'>): boolean {
  return method === 'GET' || method === 'HEAD';
}
