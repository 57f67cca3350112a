// Where failures go. `npm run own -- --without desk` replaces this file.

export { openDestination, toFailureLinks } from './boot/desk/open-destination.ts';
export { checkDeskSettings as checkDestinationSettings } from './desk/check-settings.ts';
export { START_ERRORS } from './desk/desk.ts';
