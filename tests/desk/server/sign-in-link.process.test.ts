import { expect, it, onTestFinished } from 'vitest';
import { startServer } from '../../support/e2e-server.ts';

const OPERATOR_TOKEN = 'ada:0123456789abcdef,grace:fedcba9876543210';

const open = (url: string, cookie = '') => fetch(url, { redirect: 'manual', headers: { Cookie: cookie } });

it('prints a link that opens the site signed in, once, for the first operator on a local start, although tokens are set', async () => {
  const server = await startServer({ OPERATOR_TOKEN });
  onTestFinished(() => server.stop());
  await expect.poll(server.log).toContain(`(once, within 15 minutes): ${server.url}/desk/start?ticket=`);
  const [link = ''] = /http\S+ticket=\S+/.exec(server.log()) ?? [];
  const [first, second] = [await open(link), await open(link)];
  expect([first.status, first.headers.get('location')]).toEqual([303, '/']);
  expect([second.status, second.headers.get('location')]).toEqual([303, link.replace(/.*\/desk\/start/, '/desk')]);
  const cookie = String(first.headers.get('set-cookie')).split(';')[0] ?? '';
  expect((await open(`${server.url}/desk`, cookie)).status).toBe(200);
});

it('prints no link if tokens and PUBLIC_ORIGINS are set', async () => {
  const server = await startServer({ OPERATOR_TOKEN, PUBLIC_ORIGINS: 'https://example.com' });
  onTestFinished(() => server.stop());
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  await server.stop();
  expect(server.log()).not.toContain('ticket=');
});

it('warns at the start if links in notifications would have no host', async () => {
  const env = { HOST: '0.0.0.0', PUBLIC_ORIGINS: 'https://example.com', DESK_PORT: '0' };
  const server = await startServer({ ...env, OPERATOR_TOKEN, WEBHOOK_URL: 'https://hooks.example' });
  onTestFinished(() => server.stop());
  await expect.poll(server.log).toContain('Set DESK_ORIGIN');
});
