import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { E2eServer } from '../../support/e2e-server.ts';
import type { SessionCookie } from '../site.ts';

const sessions = new WeakMap<E2eServer, Promise<SessionCookie>>();

/** Returns a session of the desk, the same for each server. */
export function deskSession(server: E2eServer): Promise<SessionCookie> {
  const session = sessions.get(server) ?? signIn(server);
  sessions.set(server, session);
  return session;
}

async function signIn({ url, dataDir }: E2eServer): Promise<SessionCookie> {
  const token = readFileSync(join(dataDir, 'desk-token'), 'utf8').trim();
  const body = new URLSearchParams({ _action: 'root.signIn', token });
  const reply = await fetch(`${url}/desk`, { method: 'POST', redirect: 'manual', headers: { Origin: url }, body });
  const [, name, value] = /^([^=]+)=([^;]+)/.exec(reply.headers.getSetCookie()[0] ?? '') ?? [];
  if (name === undefined || value === undefined) throw new Error(`Signing in to the desk failed: ${reply.status}.`);
  return { name, value, url };
}
