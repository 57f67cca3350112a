import { randomBytes } from 'node:crypto';
import { createEvent, writeEnvelope } from '../../support/tunnel-site.ts';

/** Sends an event to the tunnel of a server, as a browser does. @returns the answer, with the digest of its incident */
export async function sendReport(url: string, event: object = {}) {
  const id = randomBytes(16).toString('hex');
  const dsn = `${url.replace('://', '://spillway@')}/1`;
  const body = new Uint8Array(writeEnvelope({ dsn }, [{ type: 'event' }, createEvent({ event_id: id, ...event })]));
  const reply = await fetch(`${url}/_report`, { method: 'POST', body });
  const { digest = '' } = (await reply.json()) as { digest?: string };
  return { status: reply.status, id, digest };
}
