import './required-node.mjs';
import { createOwnedApp } from '../tests/support/owned-app.ts';
import { PROXIES, whyNot } from '../tests/support/proxies.ts';
import { rollReplicas } from './roll-replicas.mjs';
import { judge } from './served.mjs';

/**
 * Tests deploys without downtime: `node bench/rolling-restart.mjs`. Restarts two replicas in turn by SIGTERM for SECONDS
 * (60), behind nginx, HAProxy and Caddy as configured in docs/operating.md (PROXY selects one of them; default: all). At
 * the same time, requests pages, streams with a deferred value, and posts. Every response must be complete, and no
 * replica killed.
 */
const seconds = Number(process.env.SECONDS ?? 60);
const wanted = process.env.PROXY ?? 'all';
const names = wanted === 'all' ? PROXIES : [wanted];

/** Disables retries, which would hide failures. */
const CHANGES = { haproxy: { '\n  retries 2\n  option redispatch 1\n': '\n  retries 0\n' } };

const app = createOwnedApp([], { over: 'proxied' });
process.on('exit', () => app.remove());
await app.build();
const rows = [];
for (const proxy of names) {
  const reason = whyNot(proxy);
  if (reason) {
    rows.push({ what: proxy, demand: 'reported', seen: reason, isMet: wanted === 'all' });
    continue;
  }
  const roll = await rollReplicas({ proxy, folder: app.folder, seconds, changes: CHANGES[proxy], leastRestarts: 6 });
  const failed = Object.values(roll.failures).reduce((sum, count) => sum + count, 0);
  const { pages, streams, posts } = roll.answered;
  rows.push(
    {
      what: `${proxy}: restarts; complete pages, streams, posts`,
      demand: 'reported',
      seen: `${roll.restarts}; ${pages}, ${streams}, ${posts}`,
      isMet: posts > 0,
    },
    { what: `${proxy}: failed`, demand: 0, seen: failed ? JSON.stringify(roll.failures) : 0, isMet: failed === 0 },
    { what: `${proxy}: exit codes other than 0`, demand: 0, seen: roll.unclean, isMet: roll.unclean === 0 },
    { what: `${proxy}: killed`, demand: 0, seen: roll.killed, isMet: roll.killed === 0 },
  );
}
judge(rows);
