import type { RequestShape } from '../../../shared/desk/shapes.ts';
import type { RequestRecord } from '../../engine/errors/failure.ts';
import { toAgentWords } from './agent-words.ts';

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
