import script from 'inline:src/client/engine/hydration/early-script.ts';
import type { BrowserReporting } from '../../../../shared/engine/reporting/browser-report.ts';
import { toScriptText } from '../../../../shared/engine/wire/wire.ts';

/**
 * The first script of every document: it keeps what fails before the page's own script is there. It is
 * the same in each, so that a kept page's policy can name it by its hash.
 */
export function createEarlyScript(settings: BrowserReporting): string {
  return `{const SETTINGS=${toScriptText(JSON.stringify(settings))};${script}}`;
}
