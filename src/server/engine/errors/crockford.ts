const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Eight characters of Crockford base32 for 40 bits: no I, L, O or U, so that it can be read over a telephone. */
export function toCrockford(fiveBytes: Uint8Array): string {
  let bits = 0;
  for (let index = 0; index < 5; index += 1) bits = bits * 256 + (fiveBytes[index] ?? 0);
  let text = '';
  for (let index = 0; index < 8; index += 1) {
    text = ALPHABET.charAt(bits % 32) + text;
    bits = Math.floor(bits / 32);
  }
  return text;
}
