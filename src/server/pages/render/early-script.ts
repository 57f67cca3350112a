import script from 'inline:src/client/hydration/early-script.ts';
import type { BrowserReporting } from '../../../shared/reporting/browser-report.ts';
import { toScriptText } from '../../errors/escape-html.ts';

/**
 * Returns the first script of every document, which records errors until the page's own script has loaded. It is the
 * same in each document, so that the policy of a cached page can name it by its hash.
 */
export function createEarlyScript(settings: BrowserReporting): string {
  return `(SETTINGS=>{${script}})(${toScriptText(JSON.stringify(settings))})`;
}
