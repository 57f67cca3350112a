import { defineSettings, type SettingsOf } from '#engine/server';

/** The settings of this product, beside those of Spillway. Each loader and handler can read them. */
export const settings = defineSettings({});

export type Settings = SettingsOf<typeof settings>;
