import { createHash, randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createHttpServer } from '../../../../src/server/engine/connection/http-server.ts';
import { emptyLocationTable } from '../../../../src/server/engine/errors/digest/location-table.ts';
import type { Failure } from '../../../../src/server/engine/errors/failure.ts';
import { createScrubber } from '../../../../src/server/engine/errors/scrub.ts';
import { createOrigins } from '../../../../src/server/engine/protection/origins.ts';
import { ECHO_AGE } from '../../../../src/server/reports/tunnel/memory.ts';
import { openTunnel } from '../../../../src/server/reports/tunnel/tunnel.ts';
import { toOccurrence } from '../../../../src/shared/engine/reporting/address.ts';
import { REPORT_TAGS } from '../../../../src/shared/engine/reporting/browser-report.ts';
import { createTestApp, spyOnLog, TEST_SERVER } from '../../../support/app.ts';
import { createFailure, openTestDesk } from '../../../support/desk.ts';
import { createFolder } from '../../../support/folder.ts';

const newId = () => randomBytes(16).toString('hex');

/** Starts the tunnel with a real desk, behind a trusted proxy that names each sender. */
async function start() {
  const desk = await openTestDesk({ dataDir: createFolder(onTestFinished), environment: 'production' });
  onTestFinished(() => desk.close());
  const { log } = spyOnLog();
  const counts = new Map<string, number>();
  const tunnel = openTunnel({
    path: '/_report',
    store: { ...desk.calls, journal: (failure) => desk.journal(failure) },
    toUrl: (address) => `/desk/${address}`,
    mayOpen: () => false,
    upstream: undefined,
    environment: 'production',
    build: 'build-1',
    release: 'v1',
    namespace: 'test',
    table: () => emptyLocationTable,
    scrubber: createScrubber(),
    origins: createOrigins([], 'http://127.0.0.1'),
    routes: [],
    visitors: {
      toVisitor: (address) => createHash('sha256').update(address).digest('base64url').slice(0, 16),
    },
    count(_name, labels, by = 1) {
      const reason = Object.values(labels)[0] ?? '';
      counts.set(reason, (counts.get(reason) ?? 0) + by);
    },
    log,
  });
  const { server } = createHttpServer(createTestApp({ log, tunnel, trustProxy: ['loopback'] }), {
    ...TEST_SERVER,
    log,
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;

  async function send(type: string, payload: object, from = '203.0.113.7') {
    const dsn = `http://spillway@127.0.0.1:${port}/1`;
    const body = [{ dsn }, { type }, payload].map((line) => JSON.stringify(line)).join('\n');
    const reply = await fetch(`http://127.0.0.1:${port}/_report`, {
      method: 'POST',
      headers: { 'X-Forwarded-For': from, 'Content-Type': 'text/plain' },
      body,
    });
    return { status: reply.status, body: (await reply.json()) as { id?: string; digest?: string } };
  }
  const eventOf = (more: object = {}) => ({
    event_id: newId(),
    exception: { values: [{ type: 'Error', value: 'made up' }] },
    ...more,
  });
  return {
    desk,
    counts,
    sendEvent: (more?: object, from?: string) => send('event', eventOf(more), from),
    sendEcho: (address: string, more: object = {}, from?: string) =>
      send('event', eventOf({ tags: { [REPORT_TAGS.echo]: address }, ...more }), from),
    fail(wanted: Partial<Failure> = {}) {
      const failure = createFailure(wanted);
      desk.journal(failure);
      return { ...failure, address: `${failure.digest}-${failure.occurrence}` };
    },
  };
}

describe('echoes from strangers', () => {
  it('are stored once for each failure that a server saw', async () => {
    const { desk, fail, sendEcho, counts } = await start();
    const failures = Array.from({ length: 15 }, () => fail());
    const echoes = [];
    for (const { address } of failures) echoes.push((await sendEcho(address)).body.id ?? '');
    for (const { address } of failures) await sendEcho(address);
    // Sends a burst for one digest, which a journal would sample out.
    await Promise.all(Array.from({ length: 15 }, () => sendEcho(failures[0]?.address ?? '')));
    await desk.calls.settle();
    const found = await desk.calls.find(failures[0]?.address ?? '');
    expect(found?.incident.counts).toEqual({ server: 15, browser: 0 });
    expect(counts.get('echo')).toBe(30);
    for (const [index, id] of echoes.entries()) {
      const led = await desk.calls.find(`7K3QM2XA-${toOccurrence(id)}`);
      expect(led?.occurrence?.occurrence).toBe(failures[index]?.occurrence);
    }
  });

  it('with made-up addresses create no incident and no alias', async () => {
    const { desk, fail, sendEcho, counts } = await start();
    const known = fail();
    const old = fail({ digest: '2M3KQ7XA', at: Date.now() - ECHO_AGE - 1000 });
    const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
    const madeUp = Array.from({ length: 70 }, () => {
      const name = () => Array.from(randomBytes(8), (byte) => alphabet[byte % 32]).join('');
      return `${name()}-${name()}`;
    });
    const addresses = [...madeUp, `${known.digest}-00000000`, old.address];
    for (const [index, address] of addresses.entries()) {
      const reply = await sendEcho(address, {}, `203.0.${index}.7`);
      expect(reply).toMatchObject({ status: 200, body: { digest: address.slice(0, 8) } });
    }
    expect(counts.get('echo')).toBe(72);
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
    await desk.calls.settle();
    // The last 40 bits of an event's id become the second half of its address.
    const sameEnd = `${newId().slice(0, 22)}${issued.id.slice(22)}`;
    await sendEcho(other.address, { event_id: sameEnd });
    await sendEvent({ event_id: sameEnd });
    await sendEcho(`${issued.digest}-00000000`, { event_id: sameEnd });
    const found = await desk.calls.find(issued.address);
    expect(found).toMatchObject({ state: 'stored', occurrence: { side: 'server', full: { id: issued.id } } });
  });
});
