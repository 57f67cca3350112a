import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { expect, test } from 'vitest';
import { useSite } from '../site.ts';

const REQUESTS = 10_000;
/** Requests at the same time (count). */
const VISITORS = 250;

const PATHS = ['/tour/shell', '/tour/shell', '/_data/tour/shell?_holes=', '/tour/shell?_whole=1', '/_data/tour/shell'];

const site = useSite(async () => ({ MAX_CONNECTIONS_PER_ADDRESS: '1000' }));
const agent = new Agent({ keepAlive: true, maxSockets: VISITORS });

test(`no visitor sees another's secret in ${REQUESTS} interleaved requests`, { timeout: 180_000 }, async () => {
  const secrets = Array.from({ length: REQUESTS }, () => randomBytes(12).toString('hex'));
  const known = new Set(secrets);
  const filled = new Set<string>();

  async function visit(number: number): Promise<void> {
    const secret = secrets[number] ?? '';
    const path = PATHS[number % PATHS.length] ?? '';
    const { status, text } = await ask(path, secret);
    const found = [...new Set((text.match(/[0-9a-f]{24}/g) ?? []).filter((word) => known.has(word)))];
    expect([status, found], path).toEqual([200, path === '/_data/tour/shell' ? [] : [secret]]);
    if (found.length > 0) filled.add(secret);
  }

  let next = 0;
  await Promise.all(
    Array.from({ length: VISITORS }, async () => {
      while (next < REQUESTS) await visit(next++);
    }),
  );
  expect(filled.size).toBe((REQUESTS / PATHS.length) * (PATHS.length - 1));
});

function ask(path: string, secret: string): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'Accept-Language': secret, 'User-Agent': 'Mozilla/5.0 Chrome/140.0' };
    const asked = request(site.url + path, { agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode, text }));
    });
    asked.on('error', reject);
    asked.end();
  });
}
