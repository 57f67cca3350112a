import { existsSync } from 'node:fs';
import { join } from 'node:path';

const file = join(import.meta.dirname, '../.env');

/**
 * Loads settings from `.env` that are not in the environment. If the file cannot be read, exits with a message.
 *
 * @param {{ silent?: boolean }} [options] silent: logs nothing, for commands whose output is parsed
 */
export function useEnvFile({ silent = false } = {}) {
  if (!existsSync(file)) return;
  try {
    process.loadEnvFile(file);
  } catch (error) {
    console.error(`.env cannot be read (${error.code}). Make it readable for this user, or remove it.`);
    process.exit(1);
  }
  if (!silent) console.error('Settings are read from .env. Environment variables take precedence.');
}

/** Checks the engine's settings before something that takes long. If one is invalid, exits with a message. */
export async function checkSettings() {
  const { readConfig } = await import('../src/server/config.ts');
  try {
    readConfig(process.env);
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
