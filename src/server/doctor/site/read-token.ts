import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ONLY_VIEWER, parseTokens } from '../../access/operator-tokens.ts';
import { SETTINGS } from '../../config.ts';
import { type Environment, readSettings } from '../../engine/settings.ts';
import { TerminalError } from '../../terminal/terminal-error.ts';
import { DESTINATION_CHECKS } from '../destination-checks.ts';

/**
 * Reads an operator's token from a file, or else from the settings. A viewer's token is enough.
 *
 * @throws TerminalError if the file does not contain a token
 * @throws ConfigError with a sentence for each invalid setting
 */
export function readToken(file: string | undefined, env: Environment): string | undefined {
  if (file !== undefined) return readTokenFile(file);
  const { VIEWER_TOKEN, OPERATOR_TOKEN, DATA_DIR } = SETTINGS;
  const values = readSettings({ VIEWER_TOKEN, OPERATOR_TOKEN, DATA_DIR }, env);
  const [named] = [...values.VIEWER_TOKEN, ...values.OPERATOR_TOKEN];
  if (named) return named.token;
  try {
    return DESTINATION_CHECKS.readKeptToken(resolve(values.DATA_DIR));
  } catch {
    return undefined; // it belongs to another user
  }
}

function readTokenFile(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new TerminalError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  const [named] = parseTokens(text, ONLY_VIEWER) ?? [];
  if (!named)
    throw new TerminalError(
      `${file} does not contain a token. Write the value of VIEWER_TOKEN or OPERATOR_TOKEN to it.`,
    );
  return named.token;
}
