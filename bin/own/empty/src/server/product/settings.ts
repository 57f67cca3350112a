import { type Config, type Environment, readSettings, type SettingsTable, type SettingsValues } from '../config.ts';

/** The product's own settings. Add yours here; `context.ts` hands them to loaders and actions. */
export const PRODUCT_SETTINGS = {} satisfies SettingsTable;

export type ProductSettings = SettingsValues<typeof PRODUCT_SETTINGS>;

/** @throws ConfigError with a sentence for each wrong value */
export function readProductSettings(env: Environment, _config: Config): ProductSettings {
  return readSettings(PRODUCT_SETTINGS, env);
}
