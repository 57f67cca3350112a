import { defineSettings } from '#engine/server';

export const settings = defineSettings({});
