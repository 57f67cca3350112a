import type { BrowserReporting } from '../../../shared/engine/reporting/browser-report.ts';
import { keepEarlyErrors } from './early-errors.ts';

/** Stands around this script in the document: `engine/pages/early-script.ts` of the server puts it there. */
declare const SETTINGS: BrowserReporting;

keepEarlyErrors(SETTINGS);
