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
