import { expect, it, onTestFinished } from 'vitest';
import { rollReplicas } from '../../bench/roll-replicas.mjs';
import { createOwnedApp } from '../support/owned-app.ts';
import { PROXIES, whyNot } from '../support/proxies.ts';

const present = PROXIES.filter((name) => process.platform === 'linux' && !whyNot(name));

it.skipIf(present.length === 0)(
  `a rolling restart of the replicas fails no request (skipped without any of ${PROXIES.join(', ')})`,
  async () => {
    const app = createOwnedApp([], { over: 'proxied' });
    onTestFinished(() => app.remove());
    await app.build();
    // nginx last, because it has no health checks.
    const proxy = (['haproxy', 'caddy', 'nginx'] as const).find((name) => present.includes(name)) ?? 'nginx';
    const roll = await rollReplicas({ proxy, folder: app.folder, seconds: 8 });
    expect(roll).toMatchObject({ failures: {}, unclean: 0, killed: 0 });
    expect(roll.restarts).toBeGreaterThanOrEqual(2);
    expect(roll.answered.posts).toBeGreaterThan(50);
  },
  120_000,
);
