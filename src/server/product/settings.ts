import { defineSettings, type SettingsOf, toggle } from '#engine/server';

/** The settings of this product, beside those of Spillway. Each loader and handler can read them. */
export const settings = defineSettings(
  {
    TOUR_FAILURES: {
      about: 'The pages of the tour that fail on purpose. Unset: on, and off where PUBLIC_ORIGINS is set.',
      example: 'on',
      schema: toggle().optional(),
    },
  },
  (values, config) => ({ tourFailures: values.TOUR_FAILURES ?? config.publicOrigins.length === 0 }),
);

export type Settings = SettingsOf<typeof settings>;
