import { Second } from '../../../shared/units.ts';
import type { Config } from '../../config.ts';
import { listTokens } from '../../desk/access/list-tokens.ts';
import { requireProxySettings } from '../../desk/access/proxy-settings.ts';
import { toNotifySettings } from '../../desk/notifications/to-notify-settings.ts';
import { createAddressFinder, ForbiddenTargetError, type Lookup } from '../../engine/outgoing/find-address.ts';
import { LateTargetError, withinTime } from '../../engine/outgoing/within-time.ts';
import { listSentences } from '../environment/read-settings.ts';
import { type Checks, type Finding, judge, ok, toFinding, type Verdict, warning, wrong } from '../finding.ts';
import { GENERATE, isGuessable } from '../guessable.ts';

/** How long a DNS lookup can take (ms). */
const LOOKUP_TIMEOUT = 5 * Second;

const NO_LOG = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Returns a sentence for each reason why a start would refuse the settings. */
export function listDeskSentences(config: Config): readonly string[] {
  const isFound = config.operatorTokens.length > 0 || config.deskDatabaseUrl !== undefined;
  return [
    // Without either, a start creates a token. Nothing is created here.
    ...(isFound ? listSentences(() => listTokens(config, NO_LOG)) : []),
    ...(config.authProxyHeader === undefined ? [] : listSentences(() => requireProxySettings(config))),
    ...listSentences(() => toNotifySettings(config)),
  ];
}

export async function checkDeskSettings(config: Config, resolve: Lookup | undefined): Promise<Finding[]> {
  return [...judge(SETTING_CHECKS, config), ...(await checkTargets(config, resolve))];
}

const SETTING_CHECKS = {
  /** Are its ports different? */
  DESK_PORT({ port, deskPort, deskOnly }) {
    if (deskPort === undefined) return undefined;
    if (deskPort === port && port > 0 && !deskOnly) {
      return wrong(`PORT and DESK_PORT are both ${port}. The server cannot listen on it twice.`, 'Change DESK_PORT.');
    }
    return ok(`The desk is on port ${deskPort}.`);
  },

  /** Is there a token? */
  'Sign-in'({ operatorTokens, deskDatabaseUrl }) {
    // Replicas need a token. A missing one is among the invalid values.
    if (operatorTokens.length > 0 || deskDatabaseUrl !== undefined) return undefined;
    return ok('OPERATOR_TOKEN is not set: the token that the first start creates in DATA_DIR is valid.');
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
} satisfies Checks<Config>;

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
