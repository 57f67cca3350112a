import { Second } from '../../../shared/units.ts';
import { toPlural } from '../../../shared/words.ts';
import { type Config, SETTINGS } from '../../config.ts';
import { listTokens } from '../../desk/access/list-tokens.ts';
import { requireProxySettings } from '../../desk/access/proxy-settings.ts';
import { toNotifySettings } from '../../desk/notifications/to-notify-settings.ts';
import { createAddressFinder, ForbiddenTargetError, type Lookup } from '../../engine/outgoing/find-address.ts';
import { LateTargetError, withinTime } from '../../engine/outgoing/within-time.ts';
import type { ProductSettings } from '../../engine/product.ts';
import type { Environment } from '../../engine/settings.ts';
import { type Checks, type Finding, judge, ok, toFinding, type Verdict, warning, wrong } from '../finding.ts';
import { findMisspelt } from './find-misspelt.ts';
import { listSentences, type ReadEnvironment } from './read-settings.ts';

/** How long a DNS lookup can take (ms). */
const LOOKUP_TIMEOUT = 5 * Second;
/** A secret with fewer different characters was not generated (a count). */
const GENERATED_CHARACTERS = 8;

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
    ...(await checkTargets(config, resolve)),
  ];
}

/** Returns whether the server is meant for others than its developer. */
export function isForOthers({ NODE_ENV }: Environment, { host, publicOrigins }: Config): boolean {
  return NODE_ENV === 'production' || publicOrigins.length > 0 || !isLoopback(host);
}

function isLoopback(host: string): boolean {
  return /^(?:localhost|127\.[\d.]+|\[?::1\]?)$/.test(host);
}

function isGuessable(secret: string): boolean {
  return new Set(secret).size < GENERATED_CHARACTERS;
}

/** Would the server start with these values? */
function checkValues({ env, read: { config, sentences }, product }: SettingsOptions): Finding[] {
  const isFound = config.operatorTokens.length > 0 || config.deskDatabaseUrl !== undefined;
  const invalid = [
    ...sentences,
    // Without either, a start creates a token. Nothing is created here.
    ...(isFound ? listSentences(() => listTokens(config, NO_LOG)) : []),
    ...(config.authProxyHeader === undefined ? [] : listSentences(() => requireProxySettings(config))),
    ...listSentences(() => toNotifySettings(config)),
    ...(product instanceof Error
      ? [`src/server/product/settings.ts cannot be loaded: ${product.message}`]
      : listSentences(() => product.read(env, config))),
  ];
  const count = Object.keys(SETTINGS).filter((name) => env[name]?.trim()).length;
  const verdicts =
    invalid.length > 0 ? invalid.map((found) => wrong(found)) : [ok(`${toPlural(count, 'setting')} set, all valid.`)];
  return verdicts.map((verdict) => toFinding('Settings', verdict));
}

const NO_LOG = { info: () => undefined, warn: () => undefined, error: () => undefined };

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
  'HOST and PORT'({ host, port, deskPort, deskOnly, isContainer }) {
    if (deskPort !== undefined && deskPort === port && port > 0 && !deskOnly) {
      return wrong(`PORT and DESK_PORT are both ${port}. The server cannot listen on it twice.`, 'Change DESK_PORT.');
    }
    if (isContainer && isLoopback(host)) {
      return warning(
        `On ${host}, only this container can connect. No proxy and no published port reaches the server.`,
        'Listen on every network of the container.',
        { setting: 'HOST=0.0.0.0' },
      );
    }
    return ok(`${host}, port ${port}${deskPort === undefined ? '' : `, and ${deskPort} for the desk`}.`);
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
  OPERATOR_TOKEN({ operatorTokens, viewerTokens, deskDatabaseUrl }) {
    const weak = [...operatorTokens, ...viewerTokens].filter(({ token }) => isGuessable(token));
    if (weak.length > 0) {
      const names = weak.map(({ name }) => name).join(', ');
      return warning(`The token of ${names} can be guessed: it has few different characters.`, GENERATE);
    }
    if (operatorTokens.length > 0) {
      return ok(`${toPlural(operatorTokens.length, 'operator')}, ${toPlural(viewerTokens.length, 'viewer')}.`);
    }
    // Replicas need a token. A missing one is among the invalid values.
    if (deskDatabaseUrl !== undefined) return undefined;
    return ok('Not set: the token that the first start creates in DATA_DIR is valid.');
  },

  /** Does the authenticating proxy prove itself with a secret that cannot be guessed? */
  AUTH_PROXY_SECRET({ authProxyHeader, authProxySecret }) {
    // If the header is set, a missing secret is among the invalid values.
    if (authProxySecret === undefined) return undefined;
    if (authProxyHeader === undefined) {
      return warning(
        'It is set without AUTH_PROXY_HEADER, so it has no effect.',
        'Set the header in which the proxy names the person that it signed in, or remove the secret.',
        { setting: 'AUTH_PROXY_HEADER=X-Forwarded-User' },
      );
    }
    if (isGuessable(authProxySecret)) {
      return warning('The secret can be guessed: it has few different characters.', GENERATE);
    }
    return ok(`It proves that ${authProxyHeader} is from the proxy.`);
  },
} satisfies Checks<SettingFacts>;

const GENERATE = 'Generate one: openssl rand -hex 32';

/** Can notifications be sent? Nothing is sent here. */
async function checkTargets(config: Config, resolve: Lookup | undefined): Promise<Finding[]> {
  // Missing settings are among the invalid values.
  if (listSentences(() => toNotifySettings(config)).length > 0) return [];
  const urls: [setting: string, url: string | undefined][] = [
    ...config.webhookUrls.map((url): [string, string] => ['WEBHOOK_URL', url]),
    ['SMTP_URL', config.smtpUrl],
    ['HEARTBEAT_URL', config.heartbeatUrl],
  ];
  const targets = urls.flatMap(([setting, url]) =>
    url === undefined ? [] : [{ setting, host: new URL(url).hostname }],
  );
  if (targets.length === 0) {
    return [toFinding('Notifications', ok('None are sent: WEBHOOK_URL, SMTP_URL and HEARTBEAT_URL are not set.'))];
  }
  const finder = createAddressFinder(config.notifyPrivateTargets, resolve);
  return Promise.all(
    targets.map(async ({ setting, host }) => {
      const verdict = await withinTime(LOOKUP_TIMEOUT, finder.find(host.replace(/^\[|\]$/g, ''))).then(
        () => ok(`${host} resolves to an allowed address.`),
        (error: unknown) => judgeTarget(host, error),
      );
      return toFinding(setting, verdict);
    }),
  );
}

function judgeTarget(host: string, error: unknown): Verdict {
  if (error instanceof ForbiddenTargetError) {
    return wrong(
      `${host} resolves to an address that is not public, so nothing is sent there.`,
      'To allow it, list it.',
      {
        setting: `NOTIFY_PRIVATE_TARGETS=${host}`,
      },
    );
  }
  const reason = error instanceof LateTargetError ? 'DNS did not answer in time' : 'it has no address';
  return wrong(`${host} cannot be found: ${reason}.`, 'Check the name and its DNS records.');
}
