// Where failures go. `npm run own -- --without desk` replaces this file.

export { checkDeskSettings as checkDestinationSettings } from '../desk/server/check-settings.ts';
export { START_ERRORS } from '../desk/server/desk.ts';
export { openDestination, toFailureLinks } from '../desk/server/open-destination.ts';
