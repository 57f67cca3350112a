import './required-node.mjs';
import { createOwnedApp } from '../tests/support/owned-app.ts';
import { PROXIES, whyNot } from '../tests/support/proxies.ts';
import { rollReplicas } from './roll-replicas.mjs';
import { judge } from './served.mjs';

/**
 * A deploy that nobody notices: `node bench/rolling-restart.mjs`. Two replicas stand behind nginx,
 * HAProxy and Caddy, each configured as in docs/operating.md (PROXY names one of them; all), and are
 * restarted by SIGTERM, one after the other and again, for SECONDS (60), while pages, streams with a
 * late part and posts are asked for. All of them must be answered in full, and no replica be killed.
 */
const seconds = Number(process.env.SECONDS ?? 60);
const wanted = process.env.PROXY ?? 'all';
const names = wanted === 'all' ? PROXIES : [wanted];

/** Nothing may hide behind another try. */
const CHANGES = { haproxy: { '\n  retries 2\n  option redispatch 1\n': '\n  retries 0\n' } };

const app = createOwnedApp([], { over: 'proxied' });
process.on('exit', () => app.remove());
await app.build();
const rows = [];
for (const proxy of names) {
  const reason = whyNot(proxy);
  if (reason) {
    rows.push({ what: proxy, demand: 'told', seen: reason, isMet: wanted === 'all' });
    continue;
  }
  const roll = await rollReplicas({ proxy, folder: app.folder, seconds, changes: CHANGES[proxy], leastRestarts: 6 });
  const failed = Object.values(roll.failures).reduce((sum, count) => sum + count, 0);
  const { pages, streams, posts } = roll.answered;
  rows.push(
    {
      what: `${proxy}: restarts; whole pages, streams, posts`,
      demand: 'told',
      seen: `${roll.restarts}; ${pages}, ${streams}, ${posts}`,
      isMet: posts > 0,
    },
    { what: `${proxy}: failed`, demand: 0, seen: failed ? JSON.stringify(roll.failures) : 0, isMet: failed === 0 },
    { what: `${proxy}: ended with another code than 0`, demand: 0, seen: roll.unclean, isMet: roll.unclean === 0 },
    { what: `${proxy}: killed`, demand: 0, seen: roll.killed, isMet: roll.killed === 0 },
  );
}
judge(rows);
