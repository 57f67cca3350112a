import { defineSettings, type SettingsOf } from '#engine/server';

/** The settings of your app. Loaders and handlers can read them. */
export const settings = defineSettings({});

export type Settings = SettingsOf<typeof settings>;
