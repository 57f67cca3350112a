import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { press, type SessionCookie } from '../../e2e/site.ts';
import type { E2eServer } from '../../support/e2e-server.ts';

const sessions = new WeakMap<E2eServer, Promise<SessionCookie>>();

/** Returns a session of the desk, the same for each server. */
export function deskSession(server: E2eServer): Promise<SessionCookie> {
  const session = sessions.get(server) ?? createSession(server);
  sessions.set(server, session);
  return session;
}

async function createSession(server: E2eServer): Promise<SessionCookie> {
  const { url } = server;
  const body = new URLSearchParams({ _action: 'root.signIn', token: readToken(server) });
  const reply = await fetch(`${url}/desk`, { method: 'POST', redirect: 'manual', headers: { Origin: url }, body });
  const [, name, value] = /^([^=]+)=([^;]+)/.exec(reply.headers.getSetCookie()[0] ?? '') ?? [];
  if (name === undefined || value === undefined) throw new Error(`Signing in to the desk failed: ${reply.status}.`);
  return { name, value, url };
}

function readToken({ dataDir }: E2eServer): string {
  return readFileSync(join(dataDir, 'desk-token'), 'utf8').trim();
}

/** Fills in the sign-in form. */
export async function signIn(page: Page, server: E2eServer, token = readToken(server)): Promise<void> {
  await page.getByLabel('Token').fill(token);
  await press(page, 'Sign in');
}
