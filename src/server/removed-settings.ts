import type { Environment } from './settings.ts';

/** Settings of earlier versions that no longer exist, and what replaces them. Delete the table in 0.4.0. */
const REMOVED_SETTINGS: Readonly<Record<string, string>> = {
  DESK_MCP: 'Agents read incidents as Markdown: `npm run desk -- <address>`, or the API with Accept: text/markdown.',
  DESK_ONLY: 'If your app does not start, read its failures with `npm run desk`.',
  HEARTBEAT_URL: 'Let a monitor request /readyz, and watch spillway_store_reachable in /metrics.',
  MAIL_PEOPLE: 'Incidents are no longer assigned. MAIL_TO and WEBHOOK_URL get new, regressed and frequent incidents.',
  MAIL_SUMMARY: 'MAIL_TO gets new, regressed and frequent incidents. `npm run desk -- list` lists all open ones.',
  WEBHOOK_FORMAT: 'Each WEBHOOK_URL gets the same JSON, which Slack, Mattermost and Discord accept.',
  NOTIFY_PRIVATE_TARGETS: 'Notifications and mail go to any address of the settings.',
};

/** Returns a sentence for each setting in the environment that no longer exists. */
export function listRemovedSettings(env: Environment): string[] {
  return Object.entries(REMOVED_SETTINGS)
    .filter(([name]) => env[name]?.trim())
    .map(([name, instead]) => `The setting ${name} no longer exists, so it is ignored. ${instead}`);
}
