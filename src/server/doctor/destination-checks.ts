// Checks of the place that failures go to. `npm run own -- --without desk` replaces this file.

export { DESK_CHECKS as DESTINATION_CHECKS } from './desk/desk-checks.ts';
