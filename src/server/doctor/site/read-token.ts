import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { SETTINGS } from '../../config.ts';
import { type NamedToken, ONLY_VIEWER, parseTokens } from '../../desk/access/operator-tokens.ts';
import { readKeptToken } from '../../desk/access/token-file.ts';
import { TerminalError } from '../../desk/terminal/terminal-error.ts';
import { type Environment, readSettings } from '../../engine/settings.ts';

export interface TokenSource {
  /** Undefined where the settings tell. */
  readonly file: string | undefined;
  readonly env: Environment;
}

/**
 * A token of the desk, a viewer's before an operator's: it need not change anything.
 *
 * @throws TerminalError where a file was named that holds none
 * @throws ConfigError with a sentence for a wrong setting
 */
export function readToken({ file, env }: TokenSource): NamedToken | undefined {
  if (file !== undefined) return readTokenFile(file);
  const { VIEWER_TOKEN, OPERATOR_TOKEN, DATA_DIR } = SETTINGS;
  const values = readSettings({ VIEWER_TOKEN, OPERATOR_TOKEN, DATA_DIR }, env);
  const [token] = [...values.VIEWER_TOKEN, ...values.OPERATOR_TOKEN];
  if (token) return token;
  const kept = readKept(resolve(values.DATA_DIR));
  return kept === undefined ? undefined : { name: '', token: kept };
}

function readTokenFile(file: string): NamedToken {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new TerminalError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  const [token] = parseTokens(text, ONLY_VIEWER) ?? [];
  if (!token) throw new TerminalError(`${file} holds no token: write there what VIEWER_TOKEN or OPERATOR_TOKEN is.`);
  return token;
}

/** Another user's is not for this one. */
function readKept(dataDir: string): string | undefined {
  try {
    return readKeptToken(dataDir);
  } catch {
    return undefined;
  }
}
