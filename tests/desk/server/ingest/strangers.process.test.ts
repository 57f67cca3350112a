import { randomBytes } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Failure } from '../../../../src/server/errors/failure.ts';
import { ECHO_AGE } from '../../../../src/server/limits.ts';
import { toOccurrence } from '../../../../src/shared/reporting/address.ts';
import { REPORT_TAGS } from '../../../../src/shared/reporting/browser-report.ts';
import { startTunnelSite } from '../../../support/tunnel-site.ts';
import { createFailure } from '../../support/desk.ts';
import { sendReport } from '../../support/send-report.ts';
import { useDesk } from '../../support/use-desk.ts';

const newId = () => randomBytes(16).toString('hex');

/** Starts the tunnel with a real desk. */
async function start() {
  const { desk } = await useDesk();
  const site = await startTunnelSite({
    tracker: {
      isEchoAwaited: desk.calls.isEchoAwaited,
      isKnown: desk.calls.isKnownDigest,
      record: (failure) => desk.journal(failure),
    },
  });
  onTestFinished(() => site.close());

  async function sendEvent(more: object = {}) {
    const reply = await sendReport(site.origin, more);
    expect(reply.status).toBe(200);
    return reply;
  }
  return {
    desk,
    ignoredEchoes: () => site.counts.get('spillway_reports_ignored_total{reason=echo}'),
    sendEvent,
    sendEcho: (address: string, more: object = {}) => sendEvent({ tags: { [REPORT_TAGS.echo]: address }, ...more }),
    fail(wanted: Partial<Failure> = {}) {
      const failure = createFailure(wanted);
      desk.journal(failure);
      return { ...failure, address: `${failure.digest}-${failure.occurrence}` };
    },
  };
}

describe('echoes from strangers', () => {
  it('are stored once for each failure that a server saw', async () => {
    const { desk, fail, sendEcho, ignoredEchoes } = await start();
    const failures = Array.from({ length: 15 }, () => fail());
    const echoes = [];
    for (const { address } of failures) echoes.push((await sendEcho(address)).id);
    for (const { address } of failures) await sendEcho(address);
    // Sends a burst for one digest, which a journal would sample out.
    await Promise.all(Array.from({ length: 15 }, () => sendEcho(failures[0]?.address ?? '')));
    await desk.calls.flush();
    const found = await desk.calls.find(failures[0]?.address ?? '');
    expect(found?.incident.counts).toEqual({ server: 15, browser: 0 });
    expect(ignoredEchoes()).toBe(30);
    for (const [index, id] of echoes.entries()) {
      const led = await desk.calls.find(`7K3QM2XA-${toOccurrence(id)}`);
      expect(led?.occurrence?.occurrence).toBe(failures[index]?.occurrence);
    }
  });

  it('with made-up addresses create no incident and no alias', async () => {
    const { desk, fail, sendEcho, ignoredEchoes } = await start();
    const known = fail();
    const old = fail({ digest: '2M3KQ7XA', at: Date.now() - ECHO_AGE - 1000 });
    const madeUp = Array.from({ length: 10 }, () => `${toOccurrence(newId())}-${toOccurrence(newId())}`);
    for (const address of [...madeUp, `${known.digest}-00000000`, old.address]) {
      expect((await sendEcho(address)).digest).toBe(address.slice(0, 8));
    }
    expect(ignoredEchoes()).toBe(12);
    await desk.calls.flush();
    const { incidents } = await desk.calls.listIncidents({ limit: 100 });
    expect(incidents.map(({ digest }) => digest).sort()).toEqual([old.digest, known.digest]);
    for (const address of madeUp) expect(await desk.calls.find(address)).toBeUndefined();
  });
});

describe('an address shown to a visitor', () => {
  it('leads to its failure, even if strangers choose similar ids', async () => {
    const { desk, fail, sendEvent, sendEcho } = await start();
    const issued = fail();
    const other = fail();
    await desk.calls.flush();
    // The last 40 bits of an event's id become the second half of its address.
    const sameEnd = `${newId().slice(0, 22)}${issued.id.slice(22)}`;
    await sendEcho(other.address, { event_id: sameEnd });
    await sendEvent({ event_id: sameEnd });
    await sendEcho(`${issued.digest}-00000000`, { event_id: sameEnd });
    const found = await desk.calls.find(issued.address);
    expect(found).toMatchObject({ state: 'stored', occurrence: { side: 'server', full: { id: issued.id } } });
  });
});
