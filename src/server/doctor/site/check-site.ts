import { isSpecialAddress } from '../../desk/notifications/special-addresses.ts';
import { DOCTOR_SEEN } from '../../engine/monitoring/doctor-protocol.ts';
import { type Finding, type FindingGroup, toUnknown } from '../finding.ts';
import { type Answer, createAsk, NoAnswerError } from './ask.ts';
import { checkBytes } from './check-bytes.ts';
import { checkConnection, judgeNoAnswer, measureTls, type Tls } from './check-connection.ts';
import { checkExposure } from './check-exposure.ts';
import { checkLimits } from './check-limits.ts';
import { checkRequest, judgeToken, readSeen } from './check-request.ts';
import { checkStreaming } from './check-streaming.ts';

export interface SiteOptions {
  readonly site: URL;
  readonly token: string | undefined;
  /** The setting AUTH_PROXY_HEADER, if this environment has it. */
  readonly authProxyHeader: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

const CONNECTION = 'Connection';

/** Measures what visitors of a site get, and with a token what the server sees of them. */
export async function checkSite(options: SiteOptions): Promise<FindingGroup[]> {
  const { site, authProxyHeader, now } = options;
  const outside = createAsk(site);
  let home: Answer;
  let tls: Tls | undefined;
  try {
    home = await outside({ path: '/' });
    tls = site.protocol === 'https:' ? await measureTls(site) : undefined;
  } catch (error) {
    if (error instanceof NoAnswerError) return [{ heading: CONNECTION, findings: [judgeNoAnswer(error)] }];
    throw error;
  }
  const groups: FindingGroup[] = [{ heading: CONNECTION, findings: await checkConnection(site, home, tls, now) }];
  // What is not Spillway, or is not reached, would be judged by what it never promised.
  if (home.headers['x-request-id'] !== undefined) {
    groups.push(
      ...(await checkInside(options, home, tls)),
      { heading: 'Bytes', findings: await orCut(() => checkBytes(outside, home)) },
      {
        heading: 'What strangers see',
        findings: await orCut(() => checkExposure({ ask: outside, site, home, authProxyHeader })),
      },
    );
  }
  return groups.map(({ heading, findings }) => ({
    heading,
    findings: findings.map((finding) => keepKnown(finding, String(home.headers.server ?? ''))),
  }));
}

/** Where the proxy says who it is, the lines of others are in the way. */
function keepKnown(finding: Finding, server: string): Finding {
  const known = (['nginx', 'Caddy'] as const).find((name) => server.toLowerCase().startsWith(name.toLowerCase()));
  if (!known || !finding.remedies) return finding;
  return { ...finding, remedies: finding.remedies.filter(({ place }) => place === known || place === 'setting') };
}

async function checkInside({ site, token }: SiteOptions, home: Answer, tls: Tls | undefined): Promise<FindingGroup[]> {
  const heading = 'What the server sees';
  const withheld = token === undefined ? NO_TOKEN : findWithheld(site, home, tls);
  if (withheld !== undefined) return [{ heading, findings: [toUnknown(INSIDE, withheld)] }];
  const ask = createAsk(site, token);
  let plain: Answer;
  try {
    plain = await ask({ path: DOCTOR_SEEN, isAuthorized: true });
  } catch (error) {
    if (error instanceof NoAnswerError) return [{ heading, findings: [judgeNoAnswer(error)] }];
    throw error;
  }
  const seen = readSeen(plain);
  if (!seen) return [{ heading, findings: [judgeToken(plain)] }];
  return [
    { heading, findings: await orCut(() => checkRequest(ask, site, plain, seen)) },
    { heading: 'Streams', findings: await orCut(() => checkStreaming(ask)) },
    { heading: 'Limits', findings: await orCut(() => checkLimits(ask)) },
  ];
}

const INSIDE = 'Address, scheme, host, WebSockets, streams, limits';
const NO_TOKEN =
  'The server tells of them by a token alone: set VIEWER_TOKEN or OPERATOR_TOKEN as it has them, or --token-file.';

/** Why the token is not sent, where it must not be. */
function findWithheld(site: URL, home: Answer, tls: Tls | undefined): string | undefined {
  if (tls && !tls.isTrusted) return 'The token is not sent under a certificate that is not good.';
  if (site.protocol === 'http:' && !isSpecialAddress(home.remoteAddress)) {
    return 'The token is not sent over http: everybody on the way would have it.';
  }
  return undefined;
}

/** What fails between two answers is one thing that could not be looked at. */
async function orCut(check: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
    return [toUnknown('The rest', `An answer did not come (${error.code}).`)];
  }
}
