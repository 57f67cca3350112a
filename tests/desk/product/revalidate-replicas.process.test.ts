import { expect, it, onTestFinished } from 'vitest';
import { startServer } from '../../support/e2e-server.ts';
import { createPostgresDatabase } from '../../support/postgres.ts';

it('revalidate() renders a page again on every replica', async () => {
  const settings = { DESK_DATABASE_URL: await createPostgresDatabase(), OPERATOR_TOKEN: 'a-token-for-this-test-only' };
  const replicas = await Promise.all([startServer(settings), startServer(settings)]);
  onTestFinished(() => void Promise.all(replicas.map((replica) => replica.stop())));
  const times = () =>
    Promise.all(
      replicas.map(async ({ url }) => {
        const response = await fetch(`${url}/tour/shell`);
        return /id="rendered-at" dateTime="([^"]+)"/.exec(await response.text())?.[1] ?? 'none';
      }),
    );
  const before = await times();
  expect(await times()).toEqual(before);
  const [{ url }] = replicas;
  const body = new URLSearchParams({ _action: 'shell.renderAgain' });
  const posted = await fetch(`${url}/tour/shell`, {
    method: 'POST',
    redirect: 'manual',
    headers: { Origin: url },
    body,
  });
  expect(posted.status).toBe(303);
  await expect.poll(async () => (await times()).map((time, index) => time !== before[index])).toEqual([true, true]);
});
