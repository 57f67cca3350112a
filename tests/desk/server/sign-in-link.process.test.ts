import { expect, it, onTestFinished } from 'vitest';
import { startServer } from '../../support/e2e-server.ts';

const OPERATOR_TOKEN = 'ada:0123456789abcdef,grace:fedcba9876543210';

it('prints a sign-in link for the first operator on a local start, although tokens are set', async () => {
  const server = await startServer({ OPERATOR_TOKEN });
  onTestFinished(() => server.stop());
  await expect.poll(server.log).toContain(`(works once, expires in 15 minutes): ${server.url}/desk?ticket=`);
});

it('prints no link if tokens and PUBLIC_ORIGINS are set', async () => {
  const server = await startServer({ OPERATOR_TOKEN, PUBLIC_ORIGINS: 'https://example.com' });
  onTestFinished(() => server.stop());
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  await server.stop();
  expect(server.log()).not.toContain('ticket=');
});
