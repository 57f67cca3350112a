import type { BrowserReporting } from '../../shared/reporting/browser-report.ts';
import { keepEarlyErrors } from './early-errors.ts';

/** Defined around this script in the document, by `pages/render/early-script.ts` of the server. */
declare const SETTINGS: BrowserReporting;

keepEarlyErrors(SETTINGS);
