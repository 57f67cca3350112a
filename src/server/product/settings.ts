import { type Config, type Environment, readSettings, type SettingsTable, toggle } from '../config.ts';

/** The product's own settings. Add yours here; `context.ts` hands them to loaders and actions. */
export const PRODUCT_SETTINGS = {
  TOUR_FAILURES: {
    about: 'The pages of the tour that fail on purpose. Unset: on, and off where PUBLIC_ORIGINS is set.',
    example: 'on',
    schema: toggle().optional(),
  },
} satisfies SettingsTable;

export interface ProductSettings {
  readonly tourFailures: boolean;
}

/** @throws ConfigError with a sentence for each wrong value */
export function readProductSettings(env: Environment, config: Config): ProductSettings {
  const values = readSettings(PRODUCT_SETTINGS, env);
  return { tourFailures: values.TOUR_FAILURES ?? config.publicOrigins.length === 0 };
}
