import { DOCTOR_SEEN } from '../../engine/monitoring/doctor-protocol.ts';
import { isSpecialAddress } from '../../engine/outgoing/special-addresses.ts';
import type { Environment } from '../../engine/settings.ts';
import { DESTINATION_CHECKS } from '../destination-checks.ts';
import { type Finding, type FindingGroup, judge, toFinding, unknown } from '../finding.ts';
import { type Answer, createAsk, NoAnswerError } from './ask.ts';
import { checkBytes } from './check-bytes.ts';
import { CONNECTION_CHECKS, judgeNoAnswer, measureRedirect, measureTls, type Tls } from './check-connection.ts';
import { EXPOSURE_CHECKS, measureExposure } from './check-exposure.ts';
import { LIMIT_CHECKS, measureLimits } from './check-limits.ts';
import { checkRequest, judgeToken, readSeen } from './check-request.ts';
import { checkStreaming } from './check-streaming.ts';

export interface SiteOptions {
  readonly site: URL;
  readonly token: string | undefined;
  readonly env: Environment;
}

const INSIDE = 'What the server sees';
const INSIDE_CHECKS = 'Address, scheme, host, WebSockets, streams, limits';

/** Checks what visitors of a site get. With a token, also checks what the server sees of their requests. */
export async function checkSite(options: SiteOptions): Promise<FindingGroup[]> {
  const { site, env } = options;
  const ask = createAsk(site);
  let home: Answer;
  let tls: Tls | undefined;
  try {
    home = await ask({ path: '/' });
    tls = site.protocol === 'https:' ? await measureTls(site) : undefined;
  } catch (error) {
    return [{ heading: 'Connection', findings: [toFinding('Reachable', judgeNoAnswer(error))] }];
  }
  const redirect = await measureRedirect(site);
  const connection = judge(CONNECTION_CHECKS, { site, home, tls, redirect, now: Date.now() });
  const groups: FindingGroup[] = [{ heading: 'Connection', findings: connection }];
  // The other checks need responses from Spillway.
  if (home.headers['x-request-id'] !== undefined) {
    groups.push(
      ...(await checkInside(options, home, tls)),
      await toGroup('Bytes', () => checkBytes(ask, home)),
      await toGroup('What visitors can reach', async () => [
        ...judge(EXPOSURE_CHECKS, { site, home, ...(await measureExposure(ask)) }),
        ...(await DESTINATION_CHECKS.checkSite(ask, env)),
      ]),
    );
  }
  return groups.map(({ heading, findings }) => ({
    heading,
    findings: findings.map((finding) => keepKnown(finding, String(home.headers.server ?? ''))),
  }));
}

/** If the proxy's name is known, removes the lines for other proxies. */
function keepKnown(finding: Finding, server: string): Finding {
  const known = (['nginx', 'Caddy'] as const).find((name) => server.toLowerCase().startsWith(name.toLowerCase()));
  if (!known || !finding.remedies) return finding;
  return { ...finding, remedies: finding.remedies.filter(({ place }) => place === known || place === 'setting') };
}

async function checkInside({ site, token }: SiteOptions, home: Answer, tls: Tls | undefined): Promise<FindingGroup[]> {
  const toInside = (finding: Finding): FindingGroup[] => [{ heading: INSIDE, findings: [finding] }];
  const withheld = token === undefined ? NO_TOKEN : findWithheld(site, home, tls);
  if (withheld !== undefined) return toInside(toFinding(INSIDE_CHECKS, unknown(withheld)));
  const ask = createAsk(site, token);
  let answer: Answer;
  try {
    answer = await ask({ path: DOCTOR_SEEN, isAuthorized: true });
  } catch (error) {
    return toInside(toFinding('Reachable', judgeNoAnswer(error)));
  }
  const plain = readSeen(answer);
  if (!plain) return toInside(toFinding('Token', judgeToken(answer)));
  return [
    await toGroup(INSIDE, () => checkRequest({ ask, site, answer, plain })),
    await toGroup('Streams', () => checkStreaming(ask)),
    await toGroup('Limits', async () => judge(LIMIT_CHECKS, await measureLimits(ask))),
  ];
}

const NO_TOKEN = 'The server answers these only with a token. Set VIEWER_TOKEN or OPERATOR_TOKEN, or use --token-file.';

/** Returns why the token must not be sent, or undefined. */
function findWithheld(site: URL, home: Answer, tls: Tls | undefined): string | undefined {
  if (tls?.error !== undefined) return 'The token is not sent, because the certificate is not trusted.';
  if (site.protocol === 'http:' && !isSpecialAddress(home.remoteAddress)) {
    return 'The token is not sent over http: anyone on the network path could read it.';
  }
  return undefined;
}

/** Reports the whole group as unknown if a response is missing. */
async function toGroup(heading: string, check: () => Promise<readonly Finding[]>): Promise<FindingGroup> {
  try {
    return { heading, findings: await check() };
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
    return { heading, findings: [toFinding(heading, unknown(`A request got no answer (${error.code}).`))] };
  }
}
