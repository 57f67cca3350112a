import type { DeskConfig } from './settings.ts';

/** What the desk writes into the data folder. A start needs access to all of it. */
export const DESK_FILES = { folder: 'journal', files: ['instance.lock', 'desk.sqlite'] };

/** Lists settings that nothing may show: anyone who knows such a URL can post to it. */
export function listDeskSecrets({ webhookUrls }: Pick<DeskConfig, 'webhookUrls'>): readonly string[] {
  return webhookUrls;
}
