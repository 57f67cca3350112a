import type { ServerResponse } from 'node:http';

/** True if a client accepts an encoding (RFC 9110, section 12.5.3). A malformed header only accepts unencoded bytes. */
export function acceptsEncoding(header: string, encoding: string): boolean {
  let byStar = false;
  for (const part of header.split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const taken = !parameters.some((parameter) => /^q=0(?:\.0{0,3})?$/.test(parameter));
    if (name === encoding) return taken;
    if (name === '*') byStar = taken;
  }
  return byStar;
}

/** Adds a name to `Vary`, like `response.vary()` of Express. */
export function addVary(res: ServerResponse, name: string): void {
  const given = String(res.getHeader('Vary') ?? '');
  const names = given.toLowerCase().split(',');
  if (names.some((one) => one.trim() === name.toLowerCase())) return;
  res.setHeader('Vary', given === '' ? name : `${given}, ${name}`);
}
