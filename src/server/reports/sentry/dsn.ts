/** The endpoint and the key of an error-reporting service. */
export interface Dsn {
  /** `https://o1.ingest.example/api/42/envelope/`, derived only from the DSN. */
  readonly endpoint: URL;
  readonly publicKey: string;
  readonly projectId: string;
  /** The DSN as the SDKs write it, without a secret key. */
  readonly text: string;
}

/** Parses `https://<public key>@<host>/<project>`; undefined if it is invalid. An old secret key is ignored. */
export function parseDsn(text: string): Dsn | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash) return undefined;
  const slash = url.pathname.lastIndexOf('/');
  const projectId = url.pathname.slice(slash + 1);
  const path = url.pathname.slice(0, slash);
  const publicKey = url.username;
  if (!/^\w{1,100}$/.test(publicKey) || !/^\w{1,100}$/.test(projectId)) return undefined;
  return {
    endpoint: new URL(`${url.protocol}//${url.host}${path}/api/${projectId}/envelope/`),
    publicKey,
    projectId,
    text: `${url.protocol}//${publicKey}@${url.host}${path}/${projectId}`,
  };
}
