import { defineSettings, type SettingsOf, toggle } from '#engine/server';

/** The settings of your app. Loaders and handlers can read them. */
export const settings = defineSettings(
  {
    TOUR_FAILURES: {
      about: 'Turns the failing pages of the tour on or off. Default: on, or off if PUBLIC_ORIGINS is set.',
      example: 'on',
      schema: toggle().optional(),
    },
  },
  (values, config) => ({ tourFailures: values.TOUR_FAILURES ?? config.publicOrigins.length === 0 }),
);

export type Settings = SettingsOf<typeof settings>;
