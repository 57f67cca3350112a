/**
 * The key of an incident: `7K3QM2XA@production`. The same failure in two environments is two incidents, each with its own
 * state, counts, releases and notifications.
 */
export type IncidentKey = string;

export function toIncidentKey(digest: string, environment: string): IncidentKey {
  return `${digest}@${environment}`;
}

export function splitKey(key: IncidentKey): { readonly digest: string; readonly environment: string } {
  const at = key.indexOf('@');
  return { digest: key.slice(0, at), environment: key.slice(at + 1) };
}
