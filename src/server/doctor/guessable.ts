/** A secret with fewer different characters was not generated (a count). */
const GENERATED_CHARACTERS = 8;

export const GENERATE = 'Generate one: openssl rand -hex 32';

export function isGuessable(secret: string): boolean {
  return new Set(secret).size < GENERATED_CHARACTERS;
}
