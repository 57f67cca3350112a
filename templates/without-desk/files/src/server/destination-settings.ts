import type { Logger } from 'pino';
import {
  hasNoDouble,
  type NamedToken,
  ONLY_OPERATOR,
  ONLY_VIEWER,
  type OperatorToken,
  parseTokens,
  TOKEN_SENTENCE,
} from './front/operator-tokens.ts';
import { ConfigError, parsed, type SettingsTable, type SettingsValues } from './settings.ts';

/** Settings of the place that failures go to: the log, and Sentry. */
export const DESTINATION_SETTINGS = {
  FAILURE_LINK: {
    about:
      'The URL that error pages and problem+json link to, with {digest} in place of the digest, such as a search in Sentry. Every visitor sees it, so the page that it leads to must require sign-in. Default: no links.',
    example: 'https://acme.sentry.io/issues/?query=digest%3A{digest}',
    schema: parsed(
      'is not an http(s) URL that contains {digest}. Use one such as https://acme.sentry.io/issues/?query=digest%3A{digest}.',
      parseFailureLink,
    ).prefault(''),
  },
  OPERATOR_TOKEN: {
    about:
      'The token for /metrics and `npm start -- --check <url>`. For several people, use name:token, separated by commas. Default: nobody can read the metrics.',
    example: 'ada:6f1d0c5e9b7a4823,grace:b80e57d2a6c94f31',
    schema: parsed(TOKEN_SENTENCE, (text) => parseTokens(text, ONLY_OPERATOR)).prefault(''),
  },
  VIEWER_TOKEN: {
    about: 'More tokens for the same, for example for Prometheus.',
    example: '3ac97e4410d8b26f',
    schema: parsed(TOKEN_SENTENCE, (text) => parseTokens(text, ONLY_VIEWER)).prefault(''),
  },
} satisfies SettingsTable;

/** Returns their part of the configuration. */
export function toDestinationConfig(values: SettingsValues<typeof DESTINATION_SETTINGS>) {
  return {
    /** A URL with `{digest}`. */
    failureLink: values.FAILURE_LINK || undefined,
    operatorTokens: values.OPERATOR_TOKEN,
    viewerTokens: values.VIEWER_TOKEN,
  };
}

/** No paths besides the engine's are for operators. */
export const DESTINATION_PATHS: readonly string[] = [];

/** No token is kept in the data folder. */
export function readKeptToken(_dataDir: string): undefined {}

/** Nothing is written into the data folder. */
export const DESTINATION_FILES = { folder: '', files: [] };

/** No paths are reserved besides the engine's. */
export function isDestinationPath(_path: string): boolean {
  return false;
}

/** Lists settings that nothing may show. */
export function listDestinationSecrets(_config: object): string[] {
  return [];
}

export interface ListedTokens {
  readonly tokens: readonly OperatorToken[];
}

/**
 * Lists who can read the metrics.
 *
 * @throws ConfigError if a name or a token occurs twice
 */
export function listTokens(
  { operatorTokens, viewerTokens }: Readonly<Record<'operatorTokens' | 'viewerTokens', readonly NamedToken[]>>,
  _log: Pick<Logger, 'error'>,
): ListedTokens {
  const tokens = [
    ...operatorTokens.map((named): OperatorToken => ({ ...named, role: 'operator' })),
    ...viewerTokens.map((named): OperatorToken => ({ ...named, role: 'viewer' })),
  ];
  if (![tokens.map(({ name }) => name), tokens.map(({ token }) => token)].every(hasNoDouble)) {
    throw new ConfigError([
      'The settings OPERATOR_TOKEN and VIEWER_TOKEN share a name or a token. Give each holder a different name and a different token.',
    ]);
  }
  return { tokens };
}

function parseFailureLink(text: string): string | undefined {
  const url = URL.parse(text);
  return text === '' || (url && /^https?:$/.test(url.protocol) && text.includes('{digest}')) ? text : undefined;
}
