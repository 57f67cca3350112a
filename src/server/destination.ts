// Where failures go. `npm run own -- --without desk` replaces this file.

export { findOtherStart } from './boot/desk/desk-only.ts';
export { openDestination, toFailureLinks } from './boot/desk/open-destination.ts';
export { START_ERRORS } from './desk/desk.ts';
