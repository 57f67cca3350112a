/** Where an error-reporting service takes envelopes, and under which key. */
export interface Dsn {
  /** `https://o1.ingest.example/api/42/envelope/`, made of the DSN alone. */
  readonly endpoint: URL;
  readonly publicKey: string;
  readonly projectId: string;
  /** As the SDKs write it: without a secret key. */
  readonly text: string;
}

/** Reads `https://<public key>@<host>/<project>`; undefined where it is none. An old secret key is read over. */
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
