import Bowser from 'bowser';
import { isbot } from 'isbot';
import type { RequestRecord } from '../../../server/errors/failure.ts';
import type { RequestShape } from '../../shared/shapes.ts';

export function presentRequest({ method, url, headers = {} }: RequestRecord): RequestShape {
  const all = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const { referer, 'user-agent': agent } = Object.fromEntries(all);
  return {
    method,
    url,
    ...(referer !== undefined && { referrer: referer }),
    ...(agent !== undefined && { agent: { words: toAgentWords(agent), raw: agent } }),
    headers: all.filter(([name]) => name !== 'referer' && name !== 'user-agent'),
  };
}

/** How much of a user agent is read (characters). Real ones are shorter. */
const MAX_AGENT = 1000;

/**
 * Describes a user agent: `Safari 17.4 on iPhone (iOS 17.4)`, `Chrome 128 on Windows`, `Googlebot 2.1, a robot`.
 * Browsers freeze or fake some of it, so this is only what they claim.
 */
function toAgentWords(agent: string): string {
  const text = agent.slice(0, MAX_AGENT);
  // Bowser throws for an empty text.
  const { browser, os, platform } = Bowser.parse(text || '-');
  const name = browser.name && withVersion(browser.name, browser.version);
  if (isbot(text)) return `${name || /^[\w.-]+(?:\/[\w.]+)?/.exec(text)?.[0] || 'an unknown program'}, a robot`;
  const system = os.name && (platform.type === 'desktop' ? os.name : withVersion(os.name, os.version));
  const device = platform.model ? `${platform.model} (${system})` : system;
  return `${name || 'an unknown browser'}${device ? ` on ${device}` : ''}`;
}

/** Shortens a version to its first parts: `Chrome 128`, `Safari 17.4`. */
function withVersion(name: string, version = ''): string {
  const short = version.split('.', 2).join('.').replace(/\.0$/, '');
  return short ? `${name} ${short}` : name;
}
