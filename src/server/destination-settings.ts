// Settings of the place that failures go to, and other facts that need little code. `npm run own -- --without desk`
// replaces this file.

export { listTokens, readKeptToken } from '../desk/server/access/list-tokens.ts';
export {
  DESK_FILES as DESTINATION_FILES,
  listDeskSecrets as listDestinationSecrets,
} from '../desk/server/desk-files.ts';
export { DESK_PATHS as DESTINATION_PATHS, isTakenByDesk as isDestinationPath } from '../desk/server/desk-path.ts';
export { DESK_SETTINGS as DESTINATION_SETTINGS, toDeskConfig as toDestinationConfig } from '../desk/server/settings.ts';
