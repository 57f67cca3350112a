import type { Config } from '../../server/config.ts';
import { ConfigError } from '../../server/settings.ts';
import { listTokens } from './access/list-tokens.ts';
import { requireProxySettings } from './access/proxy-operator.ts';
import { toNotifySettings } from './notifications/to-notify-settings.ts';

const NO_LOG = { info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * Checks what a start of the desk requires of its settings together. Creates nothing.
 *
 * @throws ConfigError with a sentence for each reason to refuse the start
 */
export function checkDeskSettings(config: Config): void {
  const createsToken = config.operatorTokens.length === 0 && config.deskDatabaseUrl === undefined;
  const sentences = [
    ...(createsToken ? [] : listSentences(() => listTokens(config, NO_LOG))),
    ...(config.authProxyHeader === undefined ? [] : listSentences(() => requireProxySettings(config))),
    ...listSentences(() => toNotifySettings(config)),
  ];
  if (config.deskPort === config.port && config.port > 0) {
    sentences.push(`PORT and DESK_PORT are both ${config.port}. Change DESK_PORT.`);
  }
  if (sentences.length > 0) throw new ConfigError(sentences);
}

function listSentences(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.sentences;
    throw error;
  }
}
