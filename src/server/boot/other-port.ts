// `npm run own -- --without desk` replaces this file.

export { findDeskPort as findOtherPort } from './desk/desk-port.ts';
