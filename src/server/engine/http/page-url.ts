import { DATA_PREFIX } from '../../../shared/engine/protocol.ts';

/** The page's own URL in that of its page data, with or without a search; undefined for what is no page data. */
export function toPageUrl(url: string): string | undefined {
  if (!url.startsWith(DATA_PREFIX)) return undefined;
  const rest = url.slice(DATA_PREFIX.length);
  if (rest === '' || rest.startsWith('?')) return `/${rest}`;
  return rest.startsWith('/') ? rest : undefined;
}
