import type { ServerResponse } from 'node:http';

/** Adds a name to `Vary`, like `response.vary()` of Express. */
export function addVary(res: ServerResponse, name: string): void {
  const given = String(res.getHeader('Vary') ?? '');
  const names = given.toLowerCase().split(',');
  if (names.some((one) => one.trim() === name.toLowerCase())) return;
  res.setHeader('Vary', given === '' ? name : `${given}, ${name}`);
}
