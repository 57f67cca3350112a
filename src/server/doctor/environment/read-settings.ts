import {
  type Config,
  ConfigError,
  type Environment,
  readConfig,
  readSettings,
  SETTINGS,
  type SettingsTable,
} from '../../config.ts';

/** The settings of the owner's app, which may be broken in ways of its own. */
export interface ProductSettingsFile {
  readonly PRODUCT_SETTINGS?: SettingsTable;
  readonly readProductSettings: (env: Environment, config: Config) => unknown;
}

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
