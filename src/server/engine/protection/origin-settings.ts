import { toCheckedHost } from './host.ts';

/** Parses http(s) origins without a path, separated by commas. @returns undefined if one is invalid */
export function parseOrigins(text: string): readonly string[] | undefined {
  const parts = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const origins = parts.map((part) => {
    const url = URL.canParse(part) ? new URL(part) : undefined;
    if (!url || url.href !== `${url.origin}/` || /[?#]/.test(part)) return undefined;
    const scheme = url.protocol === 'https:' ? 'https' : url.protocol === 'http:' ? 'http' : undefined;
    return scheme && toCheckedHost(url.host, scheme) ? url.origin : undefined;
  });
  return origins.every((origin) => origin !== undefined) ? [...new Set(origins)] : undefined;
}
