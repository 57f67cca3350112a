/** What a DSN names: `https://key@host:port/path/7`. */
export interface Dsn {
  readonly scheme: 'http' | 'https';
  readonly publicKey: string;
  /** Lower case, with its port unless that is the scheme's default one. */
  readonly host: string;
  /** `''`, or `/sentry` for an installation under a path. */
  readonly path: string;
  readonly projectId: string;
}

const FORM =
  /^(https?):\/\/([A-Za-z0-9_-]{1,64})(:[A-Za-z0-9_-]{0,64})?@([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::(\d{1,5}))?((?:\/[A-Za-z0-9_~-][A-Za-z0-9_.~-]{0,63}){0,4})\/(\d{1,20})$/i;

const DEFAULT_PORTS = { http: '80', https: '443' };

/** The key of the DSN that browsers are given where there is no upstream. */
export const OWN_KEY = 'spillway';
export const OWN_PROJECT = '1';

/**
 * Takes exactly the form that SDKs write, and no spelling that a URL parser would make it of. An old
 * secret (`key:secret@`) is left out; undefined for what is no DSN.
 */
export function parseDsn(text: string): Dsn | undefined {
  const match = FORM.exec(text);
  if (!match) return undefined;
  const [, scheme = '', publicKey = '', , name = '', port, path = '', projectId = ''] = match;
  const protocol = scheme.toLowerCase() === 'https' ? 'https' : 'http';
  const host = name.toLowerCase() + (port === undefined || port === DEFAULT_PORTS[protocol] ? '' : `:${port}`);
  return { scheme: protocol, publicKey, host, path, projectId };
}

/** Whether a sender's DSN is the configured one, as a whole. What it spells otherwise is another one. */
export function isSameDsn(text: string, own: Dsn): boolean {
  const given = hasSecret(text) ? undefined : parseDsn(text);
  return given !== undefined && toDsnText(given) === toDsnText(own);
}

/** Whether a sender names the DSN that its page was given: there is no upstream, and the page came by either scheme. */
export function isOwnDsn(text: string, host: string): boolean {
  const own = { publicKey: OWN_KEY, host, path: '', projectId: OWN_PROJECT };
  return isSameDsn(text, { scheme: 'https', ...own }) || isSameDsn(text, { scheme: 'http', ...own });
}

export function toDsnText({ scheme, publicKey, host, path, projectId }: Dsn): string {
  return `${scheme}://${publicKey}@${host}${path}/${projectId}`;
}

/** Where envelopes for this DSN are posted. */
export function toEnvelopeUrl({ scheme, host, path, projectId }: Dsn): string {
  return `${scheme}://${host}${path}/api/${projectId}/envelope/`;
}

function hasSecret(text: string): boolean {
  return /^https?:\/\/[^@/]*:[^@/]*@/i.test(text);
}
