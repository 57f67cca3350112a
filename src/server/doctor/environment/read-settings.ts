import { type Config, readConfig, SETTINGS } from '../../config.ts';
import { ConfigError, type Environment, readSettings } from '../../engine/settings.ts';

export interface ReadEnvironment {
  /** With the default in the place of what is wrong. */
  readonly config: Config;
  /** Of what is wrong. */
  readonly sentences: readonly string[];
}

/** Reads what can be read, so that one wrong setting hides nothing of the others. */
export function readEnvironment(env: Environment): ReadEnvironment {
  const sound: Record<string, string | undefined> = { ...env };
  const sentences: string[] = [];
  for (const [name, setting] of Object.entries(SETTINGS)) {
    const found = listSentences(() => readSettings({ [name]: setting }, env));
    if (found.length === 0) continue;
    sentences.push(...found);
    delete sound[name];
  }
  return { config: readConfig(sound), sentences };
}

/** What a start would refuse. */
export function listSentences(work: () => unknown): readonly string[] {
  try {
    work();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.sentences;
    throw error;
  }
}
