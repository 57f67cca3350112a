/**
 * Whether a client takes an encoding, by RFC 9110 section 12.5.3. A header that makes no sense takes
 * nothing but the bytes as they are.
 */
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
