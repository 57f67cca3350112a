import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(new URL('../.env', import.meta.url));

/**
 * Takes the settings of `.env` that the environment does not have. An unreadable file ends the process with a sentence.
 *
 * @param {{ silent?: boolean }} [options] silent: says nothing of it, for a command whose output is read
 */
export function useEnvFile({ silent = false } = {}) {
  if (!existsSync(file)) return;
  try {
    loadEnvFile(file);
  } catch (error) {
    console.error(`.env cannot be read (${error.code}). Make it readable for this user, or remove it.`);
    process.exit(1);
  }
  if (!silent) console.error('Settings are read from .env. A variable of the environment wins over its line there.');
}
