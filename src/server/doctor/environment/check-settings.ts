import { toPlural } from '../../../shared/desk/words.ts';
import { Second } from '../../../shared/units.ts';
import { type Config, SETTINGS } from '../../config.ts';
import { listTokens } from '../../desk/access/list-tokens.ts';
import { requireProxySettings } from '../../desk/access/proxy-settings.ts';
import { createAddressFinder, ForbiddenTargetError, type Lookup } from '../../desk/notifications/find-address.ts';
import { toNotifySettings } from '../../desk/notifications/to-notify-settings.ts';
import { LateTargetError, withinTime } from '../../desk/notifications/within-time.ts';
import type { ProductSettings } from '../../engine/product.ts';
import type { Environment } from '../../engine/settings.ts';
import { type Finding, toOk, toSetting } from '../finding.ts';
import { findMisspelt } from './find-misspelt.ts';
import { listSentences, type ReadEnvironment } from './read-settings.ts';

/** How long a name may take to be looked up (ms). */
const LOOKUP_PATIENCE = 5 * Second;
/** A token of fewer different characters was typed, and not drawn (a count). */
const DRAWN_CHARACTERS = 8;

export interface SettingsOptions {
  readonly env: Environment;
  readonly read: ReadEnvironment;
  /** A failure to load it is told as what it is. */
  readonly product: ProductSettings<unknown> | Error;
  readonly isContainer?: boolean;
  readonly resolve?: Lookup;
}

export async function checkSettings({
  env,
  read,
  product,
  isContainer = false,
  resolve,
}: SettingsOptions): Promise<Finding[]> {
  const { config } = read;
  const isServing = isForOthers(env, config);
  const notify = await checkNotify(config, resolve);
  return [
    ...judgeValues(read, product, env),
    ...judgeMisspelt(env, 'message' in product ? [] : Object.keys(product.table)),
    judgeListening(config, isContainer),
    judgeOrigins(config, isServing),
    judgeTrust(config),
    ...judgeTokens(config),
    ...judgeAuthProxy(config),
    ...notify,
  ];
}

/** Somebody else than whoever develops it is meant to reach it. */
export function isForOthers({ NODE_ENV }: Environment, { host, publicOrigins }: Config): boolean {
  return NODE_ENV === 'production' || publicOrigins.length > 0 || !isOwnMachine(host);
}

function isOwnMachine(host: string): boolean {
  return /^(?:localhost|127\.[\d.]+|\[?::1\]?)$/.test(host);
}

function judgeValues(
  { config, sentences }: ReadEnvironment,
  product: SettingsOptions['product'],
  env: Environment,
): Finding[] {
  const about = 'Settings';
  const isSetUp = config.operatorTokens.length > 0 || config.deskDatabaseUrl !== undefined;
  const all = [
    ...sentences,
    // Without either the server makes a token: nothing is made here.
    ...(isSetUp ? listSentences(() => listTokens(config, QUIET)) : []),
    ...(config.authProxyHeader === undefined ? [] : listSentences(() => requireProxySettings(config))),
    ...listSentences(() => toNotifySettings(config)),
    ...('message' in product ? [] : listSentences(() => product.read(env, config))),
  ];
  const broken: readonly Finding[] =
    'message' in product
      ? [{ about, mark: 'wrong', found: `src/server/product/settings.ts cannot be loaded: ${product.message}` }]
      : [];
  if (all.length > 0) return [...all.map((found): Finding => ({ about, mark: 'wrong', found })), ...broken];
  const count = Object.keys(SETTINGS).filter((name) => env[name]?.trim()).length;
  return [
    toOk(
      about,
      `${toPlural(count, 'setting')} of the server ${count === 1 ? 'is' : 'are'} set, and a start would take them.`,
    ),
    ...broken,
  ];
}

const QUIET = { info: () => undefined, warn: () => undefined, error: () => undefined };

function judgeMisspelt(env: Environment, productNames: readonly string[]): Finding[] {
  return findMisspelt(env, [...Object.keys(SETTINGS), ...productNames]).map(({ name, meant }) => ({
    about: name,
    mark: 'warning',
    found: 'Nothing reads this variable.',
    advice: `If ${meant} is meant, which is not set, rename it.`,
  }));
}

export function judgeListening(
  { host, port, deskPort, deskOnly }: Pick<Config, 'host' | 'port' | 'deskPort' | 'deskOnly'>,
  isContainer: boolean,
): Finding {
  const about = 'HOST and PORT';
  if (deskPort !== undefined && deskPort === port && port > 0 && !deskOnly) {
    return {
      about,
      mark: 'wrong',
      found: `PORT and DESK_PORT are both ${port}, so the second one cannot be listened on.`,
      advice: 'Set DESK_PORT to another one.',
    };
  }
  if (isContainer && isOwnMachine(host)) {
    return {
      about,
      mark: 'warning',
      found: `${host} is this container alone: no proxy and no port of the host leads there.`,
      advice: 'Listen on every network of the container.',
      remedies: toSetting('HOST=0.0.0.0'),
    };
  }
  return toOk(about, `${host}, port ${port}${deskPort === undefined ? '' : `, and ${deskPort} for the desk`}.`);
}

export function judgeOrigins({ publicOrigins }: Pick<Config, 'publicOrigins'>, isServing: boolean): Finding {
  const about = 'PUBLIC_ORIGINS';
  if (publicOrigins.length === 0) {
    if (!isServing) return toOk(about, 'Not set: any host is answered, on this machine alone.');
    return {
      about,
      mark: 'warning',
      found: 'It is not set, so every host is answered, and links in messages may lead nowhere.',
      advice: 'Set it to the origins that visitors use, the main one first.',
      remedies: toSetting('PUBLIC_ORIGINS=https://www.example.com'),
    };
  }
  const open = publicOrigins.filter((origin) => /^http:/.test(origin) && !isOwnMachine(new URL(origin).hostname));
  if (open.length === 0) return toOk(about, `${publicOrigins.join(', ')}.`);
  return {
    about,
    mark: 'warning',
    found: `${open.join(', ')} is plain http: everybody on the way reads along, and cookies are not bound to TLS.`,
    advice: 'Put a proxy with TLS in front, and write https here.',
  };
}

export function judgeTrust({ trustProxy, publicOrigins }: Pick<Config, 'trustProxy' | 'publicOrigins'>): Finding {
  const about = 'TRUST_PROXY';
  const isProxied = publicOrigins.some((origin) => /^https:/.test(origin));
  if (trustProxy === 0) {
    if (!isProxied) return toOk(about, 'Not set: nobody is believed whom they ask for.');
    return {
      about,
      mark: 'warning',
      found:
        'It is not set, and TLS ends at a proxy: every visitor has the address of that proxy, so their limits are one.',
      advice: "Set it to the proxy's address or network, or to the number of proxies in front.",
      remedies: toSetting('TRUST_PROXY=10.0.0.5'),
    };
  }
  if (typeof trustProxy === 'number') {
    return toOk(
      about,
      `${toPlural(trustProxy, 'proxy', 'proxies')} in front. Who reaches the server past them can forge an address.`,
    );
  }
  return toOk(about, `${trustProxy.join(', ')}.`);
}

export function judgeTokens({
  operatorTokens,
  viewerTokens,
  deskDatabaseUrl,
}: Pick<Config, 'operatorTokens' | 'viewerTokens' | 'deskDatabaseUrl'>): Finding[] {
  const about = 'OPERATOR_TOKEN';
  const weak = [...operatorTokens, ...viewerTokens].filter(({ token }) => new Set(token).size < DRAWN_CHARACTERS);
  if (weak.length > 0) {
    const found = `The token of ${weak.map(({ name }) => name).join(', ')} can be guessed: it has few different characters.`;
    return [{ about, mark: 'warning', found, advice: 'Have one drawn: openssl rand -hex 32' }];
  }
  if (operatorTokens.length > 0) {
    return [toOk(about, `${toPlural(operatorTokens.length, 'operator')}, ${toPlural(viewerTokens.length, 'viewer')}.`)];
  }
  // Replicas need one: that it is missing was said.
  if (deskDatabaseUrl !== undefined) return [];
  return [toOk(about, 'Not set: the one that the first start makes in DATA_DIR counts.')];
}

export function judgeAuthProxy({
  authProxyHeader,
  authProxySecret,
}: Pick<Config, 'authProxyHeader' | 'authProxySecret'>): Finding[] {
  const about = 'AUTH_PROXY_SECRET';
  // Where a header is set, that the secret is missing was said.
  if (authProxySecret === undefined) return [];
  if (authProxyHeader === undefined) {
    return [
      {
        about,
        mark: 'warning',
        found: 'It is set without AUTH_PROXY_HEADER, so it has no effect.',
        advice: 'Set the header in which the proxy names the person that it signed in, or remove the secret.',
        remedies: toSetting('AUTH_PROXY_HEADER=X-Forwarded-User'),
      },
    ];
  }
  if (new Set(authProxySecret).size < DRAWN_CHARACTERS) {
    const found = 'The secret can be guessed: it has few different characters.';
    return [{ about, mark: 'warning', found, advice: 'Generate one: openssl rand -hex 32' }];
  }
  return [toOk(about, `The proxy proves ${authProxyHeader} by it.`)];
}

/** Whether those who are told can be sent to; nothing is sent. */
async function checkNotify(config: Config, resolve: Lookup | undefined): Promise<Finding[]> {
  // What is missing for it was said.
  if (listSentences(() => toNotifySettings(config)).length > 0) return [];
  const settings = toNotifySettings(config);
  if (!settings)
    return [toOk('Messages', 'Nobody is told of failures: no WEBHOOK_URL, SMTP_URL or HEARTBEAT_URL is set.')];
  const { webhooks, mail, heartbeatUrl, privateTargets } = settings;
  const urls: readonly (readonly [setting: string, url: string])[] = [
    ...webhooks.map((url) => ['WEBHOOK_URL', url] as const),
    ...(mail ? [['SMTP_URL', mail.smtpUrl] as const] : []),
    ...(heartbeatUrl === undefined ? [] : [['HEARTBEAT_URL', heartbeatUrl] as const]),
  ];
  const finder = createAddressFinder(privateTargets, resolve);
  return Promise.all(
    urls.map(async ([about, url]): Promise<Finding> => {
      const { hostname } = new URL(url);
      try {
        await withinTime(LOOKUP_PATIENCE, finder.find(hostname.replace(/^\[|\]$/g, '')));
        return toOk(about, `${hostname} has an address that may be sent to.`);
      } catch (error) {
        return judgeTarget(about, hostname, error);
      }
    }),
  );
}

function judgeTarget(about: string, host: string, error: unknown): Finding {
  if (error instanceof ForbiddenTargetError) {
    return {
      about,
      mark: 'wrong',
      found: `${host} leads to an address that is not public, so nothing is sent there.`,
      advice: 'If that is meant, list it.',
      remedies: toSetting(`NOTIFY_PRIVATE_TARGETS=${host}`),
    };
  }
  const reason = error instanceof LateTargetError ? 'DNS did not answer in time' : 'it has no address';
  return {
    about,
    mark: 'wrong',
    found: `${host} cannot be found: ${reason}.`,
    advice: 'Look at the name and its DNS.',
  };
}
