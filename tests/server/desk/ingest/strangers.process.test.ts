import { createHash, randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Desk } from '../../../../src/server/desk/desk.ts';
import { createKeepFeedback } from '../../../../src/server/desk/ingest/keep-feedback.ts';
import { toReportStore } from '../../../../src/server/desk/ingest/to-report-store.ts';
import { toCallKey } from '../../../../src/server/desk/store/incident-key.ts';
import { createHttpServer } from '../../../../src/server/engine/connection/http-server.ts';
import { emptyLocationTable } from '../../../../src/server/engine/errors/digest/location-table.ts';
import type { Failure } from '../../../../src/server/engine/errors/failure.ts';
import { createScrubber } from '../../../../src/server/engine/errors/scrub.ts';
import { createOrigins } from '../../../../src/server/engine/protection/origins.ts';
import { ECHO_AGE } from '../../../../src/server/reports/tunnel/echoes.ts';
import { openTunnel } from '../../../../src/server/reports/tunnel/open-tunnel.ts';
import { toOccurrence } from '../../../../src/shared/engine/reporting/address.ts';
import { REPORT_TAGS } from '../../../../src/shared/engine/reporting/report-tags.ts';
import { Day } from '../../../../src/shared/units.ts';
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
    store: toReportStore(desk),
    toUrl: (address) => `/desk/${address}`,
    mayOpen: () => false,
    feedback: createKeepFeedback({ desk, environment: 'production' }),
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
      listOthers: () => [],
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
    send,
    sendEvent: (more?: object, from?: string) => send('event', eventOf(more), from),
    sendEcho: (address: string, more: object = {}, from?: string) =>
      send('event', eventOf({ tags: { [REPORT_TAGS.echo]: address }, ...more }), from),
    say: (about: string, from?: string) =>
      send('user_report', { event_id: about, comments: `It broke. ${newId()}` }, from),
    fail(wanted: Partial<Failure> = {}) {
      const failure = createFailure(wanted);
      desk.journal(failure);
      return { ...failure, address: `${failure.digest}-${failure.occurrence}` };
    },
  };
}

const listFeedback = (desk: Desk, digest: string) => desk.ask('listFeedback', toCallKey(digest, 'production'), 500);

describe('feedback from strangers', () => {
  it('is stored only for failures of the last day', async () => {
    const { desk, fail, say, counts, sendEvent } = await start();
    const recent = fail();
    const old = fail({ digest: '2M3KQ7XA', at: Date.now() - Day - 1000 });
    const { body } = await sendEvent();
    for (const [index, id] of [recent.id, old.id, newId(), body.id ?? ''].entries()) {
      expect((await say(id, `203.0.113.${index}`)).status).toBe(200);
    }
    expect(await listFeedback(desk, recent.digest)).toHaveLength(1);
    expect(await listFeedback(desk, old.digest)).toEqual([]);
    expect(await listFeedback(desk, body.digest ?? '')).toHaveLength(1);
    expect(counts.get('feedback-unknown')).toBe(2);
  });

  it('is limited per failure and per sender', async () => {
    const { desk, fail, say, counts } = await start();
    const { id, digest } = fail();
    for (let index = 0; index < 12; index += 1) await say(id);
    expect(await listFeedback(desk, digest)).toHaveLength(5);
    for (let index = 0; index < 40; index += 1) await say(id, `203.0.113.${100 + index}`);
    expect(await listFeedback(desk, digest)).toHaveLength(20);
    expect(counts.get('feedback-limited')).toBe(52 - 20);
  });

  it('is limited in bytes', async () => {
    const { desk, fail, send } = await start();
    const { id, digest } = fail();
    const text = 'x'.repeat(4096);
    for (let index = 0; index < 5; index += 1) await send('user_report', { event_id: id, comments: text });
    const size = (await listFeedback(desk, digest)).reduce((sum, said) => sum + said.text.length, 0);
    expect(size).toBeGreaterThan(0);
    expect(size).toBeLessThanOrEqual(32 * 1024);
  });
});

describe('echoes from strangers', () => {
  it('are stored once for each failure that a server saw', async () => {
    const { desk, fail, sendEcho, say, counts } = await start();
    const failures = Array.from({ length: 15 }, () => fail());
    const echoes = [];
    for (const { address } of failures) echoes.push((await sendEcho(address)).body.id ?? '');
    for (const { address } of failures) await sendEcho(address);
    // Sends a burst for one digest, which a journal would sample out.
    await Promise.all(Array.from({ length: 15 }, () => sendEcho(failures[0]?.address ?? '')));
    await desk.flush();
    const found = await desk.ask('find', failures[0]?.address ?? '');
    expect(found?.incident.counts).toEqual({ server: 15, browser: 0 });
    expect(counts.get('echo')).toBe(30);
    for (const [index, id] of echoes.entries()) {
      const led = await desk.ask('find', `7K3QM2XA-${toOccurrence(id)}`);
      expect(led?.occurrence?.occurrence).toBe(failures[index]?.occurrence);
    }
    await say(echoes[0] ?? '');
    const [said] = await listFeedback(desk, '7K3QM2XA');
    expect(said?.address).toBe(failures[0]?.address);
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
    const { incidents } = await desk.ask('listIncidents', { limit: 100 });
    expect(incidents.map(({ digest }) => digest).sort()).toEqual([old.digest, known.digest]);
    for (const address of madeUp) expect(await desk.ask('find', address)).toBeUndefined();
  });
});

describe('an address shown to a visitor', () => {
  it('leads to its failure, even if strangers choose similar ids', async () => {
    const { desk, fail, sendEvent, sendEcho } = await start();
    const issued = fail();
    const other = fail();
    await desk.flush();
    // The last 40 bits of an event's id become the second half of its address.
    const sameEnd = `${newId().slice(0, 22)}${issued.id.slice(22)}`;
    await sendEcho(other.address, { event_id: sameEnd });
    await sendEvent({ event_id: sameEnd });
    await sendEcho(`${issued.digest}-00000000`, { event_id: sameEnd });
    const found = await desk.ask('find', issued.address);
    expect(found).toMatchObject({ state: 'kept', occurrence: { side: 'server', whole: { id: issued.id } } });
  });
});
