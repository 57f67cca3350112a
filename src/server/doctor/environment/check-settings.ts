import { toPlural } from '../../../shared/words.ts';
import { type Config, SETTINGS } from '../../config.ts';
import type { Lookup } from '../../engine/outgoing/find-address.ts';
import type { ProductSettings } from '../../engine/product.ts';
import type { Environment } from '../../engine/settings.ts';
import { DESTINATION_CHECKS } from '../destination-checks.ts';
import { type Checks, type Finding, judge, ok, toFinding, warning, wrong } from '../finding.ts';
import { GENERATE, isGuessable } from '../guessable.ts';
import { findMisspelt } from './find-misspelt.ts';
import { listSentences, type ReadEnvironment } from './read-settings.ts';

export interface SettingsOptions {
  readonly env: Environment;
  readonly read: ReadEnvironment;
  /** An error if its module cannot be loaded. */
  readonly product: ProductSettings<unknown> | Error;
  readonly isContainer: boolean;
  readonly resolve?: Lookup | undefined;
}

export async function checkSettings(options: SettingsOptions): Promise<Finding[]> {
  const { env, read, product, isContainer, resolve } = options;
  const { config } = read;
  return [
    ...checkValues(options),
    ...checkNames(env, product instanceof Error ? [] : Object.keys(product.table)),
    ...judge(SETTING_CHECKS, { ...config, isContainer, isServing: isForOthers(env, config) }),
    ...(await DESTINATION_CHECKS.checkSettings(config, resolve)),
  ];
}

/** Returns whether the server is meant for others than its developer. */
export function isForOthers({ NODE_ENV }: Environment, { host, publicOrigins }: Config): boolean {
  return NODE_ENV === 'production' || publicOrigins.length > 0 || !isLoopback(host);
}

function isLoopback(host: string): boolean {
  return /^(?:localhost|127\.[\d.]+|\[?::1\]?)$/.test(host);
}

/** Would the server start with these values? */
function checkValues({ env, read: { config, sentences }, product }: SettingsOptions): Finding[] {
  const invalid = [
    ...sentences,
    ...DESTINATION_CHECKS.listSentences(config),
    ...(product instanceof Error
      ? [`src/server/product/settings.ts cannot be loaded: ${product.message}`]
      : listSentences(() => product.read(env, config))),
  ];
  const count = Object.keys(SETTINGS).filter((name) => env[name]?.trim()).length;
  const verdicts =
    invalid.length > 0 ? invalid.map((found) => wrong(found)) : [ok(`${toPlural(count, 'setting')} set, all valid.`)];
  return verdicts.map((verdict) => toFinding('Settings', verdict));
}

/** Is a name misspelled? */
function checkNames(env: Environment, productNames: readonly string[]): Finding[] {
  return findMisspelt(env, [...Object.keys(SETTINGS), ...productNames]).map(({ name, meant }) =>
    toFinding(name, warning('Nothing reads this variable.', `Did you mean ${meant}? It is not set.`)),
  );
}

export interface SettingFacts extends Config {
  readonly isContainer: boolean;
  /** Whether it serves others than its developer. */
  readonly isServing: boolean;
}

const SETTING_CHECKS = {
  /** Can a proxy connect to it? */
  'HOST and PORT'({ host, port, isContainer }) {
    if (isContainer && isLoopback(host)) {
      return warning(
        `On ${host}, only this container can connect. No proxy and no published port reaches the server.`,
        'Listen on every network of the container.',
        { setting: 'HOST=0.0.0.0' },
      );
    }
    return ok(`${host}, port ${port}.`);
  },

  /** Does it know its origins, and are they https? */
  PUBLIC_ORIGINS({ publicOrigins, isServing }) {
    if (publicOrigins.length === 0 && !isServing) {
      return ok('Not set: requests for any host are accepted, from this machine only.');
    }
    if (publicOrigins.length === 0) {
      return warning(
        'Not set: requests for any host are accepted, and links in notifications may not work.',
        'Set it to the origins that visitors use, the main one first.',
        { setting: 'PUBLIC_ORIGINS=https://www.example.com' },
      );
    }
    const open = publicOrigins.filter((origin) => /^http:/.test(origin) && !isLoopback(new URL(origin).hostname));
    if (open.length === 0) return ok(`${publicOrigins.join(', ')}.`);
    return warning(
      `${open.join(', ')} is plain http: anyone on the network path can read the traffic, and cookies are not Secure.`,
      'Put a proxy with TLS in front, and use https here.',
    );
  },

  /** Does it know which proxies to believe? */
  TRUST_PROXY({ trustProxy, publicOrigins }) {
    if (trustProxy === 0 && publicOrigins.some((origin) => /^https:/.test(origin))) {
      return warning(
        "Not set, although a proxy terminates TLS: every visitor has the proxy's address, so they share one rate limit.",
        "Set it to the proxy's address or network, or to the number of proxies in front.",
        { setting: 'TRUST_PROXY=10.0.0.5' },
      );
    }
    if (trustProxy === 0) return ok('Not set: X-Forwarded headers are ignored.');
    if (typeof trustProxy !== 'number') return ok(`${trustProxy.join(', ')}.`);
    return ok(
      `${toPlural(trustProxy, 'proxy', 'proxies')} in front. A client that bypasses them can forge its address.`,
    );
  },

  /** Can a token be guessed? */
  OPERATOR_TOKEN({ operatorTokens, viewerTokens }) {
    const weak = [...operatorTokens, ...viewerTokens].filter(({ token }) => isGuessable(token));
    if (weak.length > 0) {
      const names = weak.map(({ name }) => name).join(', ');
      return warning(`The token of ${names} can be guessed: it has few different characters.`, GENERATE);
    }
    if (operatorTokens.length === 0) return undefined;
    return ok(`${toPlural(operatorTokens.length, 'operator')}, ${toPlural(viewerTokens.length, 'viewer')}.`);
  },
} satisfies Checks<SettingFacts>;
