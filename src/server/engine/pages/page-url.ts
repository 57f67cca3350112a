import { DATA_PREFIX } from '../../../shared/engine/wire/protocol.ts';

/**
 * Returns the page's own URL from that of its page data, with or without a search; `undefined` for any other URL.
 *
 * @param base the path that all pages of the app share (`/desk`), empty for none
 */
export function toPageUrl(url: string, base = ''): string | undefined {
  const prefix = base + DATA_PREFIX;
  if (!url.startsWith(prefix)) return undefined;
  const rest = url.slice(prefix.length);
  if (rest === '' || rest.startsWith('?')) return `${base || '/'}${rest}`;
  return rest.startsWith('/') ? base + rest : undefined;
}
