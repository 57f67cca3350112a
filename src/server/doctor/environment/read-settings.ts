import { type Config, readConfig, SETTINGS } from '../../config.ts';
import { ConfigError, type Environment, readSettings } from '../../engine/settings.ts';

export interface ReadEnvironment {
  /** The configuration, with the default in place of each invalid value. */
  readonly config: Config;
  /** A sentence for each invalid value. */
  readonly sentences: readonly string[];
}

/** Reads each setting by itself, so that one invalid value does not hide the others. */
export function readEnvironment(env: Environment): ReadEnvironment {
  const valid: Record<string, string | undefined> = { ...env };
  const sentences = Object.entries(SETTINGS).flatMap(([name, setting]) => {
    const found = listSentences(() => readSettings({ [name]: setting }, env));
    if (found.length > 0) delete valid[name];
    return found;
  });
  return { config: readConfig(valid), sentences };
}

/** Returns the sentences of the `ConfigError` that `read` throws. */
export function listSentences(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.sentences;
    throw error;
  }
}
