import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readLines, startDeskApi, fullWithSource } from '../../../support/desk-api.ts';
import { startDeskSite } from '../../../support/desk-site.ts';
import { ADA } from '../../../support/people.ts';
import { ingest, summaryOf, fullOf } from '../../../support/stores.ts';
import { until } from '../../../support/until.ts';

const toDigest = (index: number) => String(index).padStart(8, '0');

describe('an export', () => {
  it('contains every incident once with its occurrences, and ends with a count', async () => {
    const { get, site } = await startDeskApi();
    const now = Date.now();
    const batch = Array.from({ length: 120 }, (_, index) =>
      fullOf({ digest: toDigest(index), at: now - index * 1000 }),
    );
    await ingest(
      site.store,
      ...batch,
      ...batch.map(({ failure }) => summaryOf({ digest: failure.digest, at: failure.at })),
    );
    const lines = readLines(await get('/export'));
    const incidents = lines.filter(({ type }) => type === 'incident');
    expect(incidents.map(({ digest }) => digest)).toEqual(batch.map(({ failure }) => failure.digest));
    expect(lines.slice(0, 3).map(({ type, digest }) => [type, digest])).toEqual([
      ['incident', toDigest(0)],
      ['occurrence', toDigest(0)],
      ['occurrence', toDigest(0)],
    ]);
    expect(lines.at(-1)).toEqual({ type: 'end', incidents: 120, occurrences: 240 });
    expect(lines).toHaveLength(361);
  });

  it('includes the requested details, with the same filters as the list', async () => {
    const { get, site } = await startDeskApi();
    await ingest(site.store, fullWithSource(), fullOf({ digest: '00000002', route: '/other' }));
    const typesOf = async (search: string) => readLines(await get(`/export?${search}`)).map(({ type }) => type);
    expect(await typesOf('occurrences=none')).toEqual(['incident', 'incident', 'end']);
    expect(await typesOf('route=/other')).toEqual(['incident', 'occurrence', 'end']);
    expect(await typesOf('state=resolved')).toEqual(['end']);
    const [, brief] = readLines(await get('/incidents/7K3QM2XA/export'));
    expect(brief).not.toHaveProperty('whole');
    const [, whole] = readLines(await get('/incidents/7K3QM2XA/export?occurrences=whole'));
    expect(whole).toMatchObject({ full: { tags: [['plan', 'business']] } });
  });

  it('includes an incident that happens again during the export', async () => {
    const { get, site } = await startDeskApi();
    const now = Date.now();
    const batch = Array.from({ length: 60 }, (_, index) =>
      summaryOf({ digest: toDigest(index), at: now - 60_000 + index }),
    );
    await ingest(site.store, ...batch);
    const { listIncidents } = site.store;
    Object.assign(site.store, {
      listIncidents: async (query: Parameters<typeof listIncidents>[0]) => {
        const page = await listIncidents.call(site.store, query);
        await ingest(site.store, summaryOf({ digest: toDigest(0), at: Date.now() }));
        return page;
      },
    });
    const lines = readLines(await get('/export?occurrences=none'));
    expect(new Set(lines.map(({ digest }) => digest)).size).toBe(61); // and undefined for the end
  });

  it('is aborted if the store fails halfway, so that it cannot be mistaken for a complete one', async () => {
    const { url, site } = await serve();
    let pages = 0;
    const { listIncidents } = site.store;
    Object.assign(site.store, {
      listIncidents: (query: Parameters<typeof listIncidents>[0]) => {
        pages += 1;
        return pages > 1 ? Promise.reject(new Error('It broke.')) : listIncidents.call(site.store, query);
      },
    });
    const reply = await fetch(`${url}/api/desk/export?occurrences=none`, { headers: AUTHORIZED });
    expect(reply.status).toBe(200);
    await expect(reply.text()).rejects.toThrow();
  });

  it.each([false, true])(
    'reads from the store no faster than the client reads (compressed: %s), and stops when the client leaves',
    async (compression) => {
      const { port, site } = await serve({ deps: { compression } });
      let asked = 0;
      const { listIncidents } = site.store;
      const page = await listIncidents.call(site.store, { limit: 50 });
      // A store that never runs out of incidents.
      Object.assign(site.store, {
        listIncidents: async () => {
          asked += 1;
          return { ...page, incidents: page.incidents.map((one) => ({ ...one, message: randomText() })), next: 'x' };
        },
      });
      const socket = connect(port, '127.0.0.1');
      onTestFinished(() => void socket.destroy());
      socket.pause();
      socket.write(
        `GET /api/desk/export?occurrences=none HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${ADA.token}\r\nAccept-Encoding: gzip\r\n\r\n`,
      );
      const stands = await standsStill(() => asked);
      expect(stands).toBeGreaterThan(1);
      socket.destroy();
      const after = await standsStill(() => asked);
      expect(after - stands).toBeLessThanOrEqual(2);
      await until(
        () => site.lines.some((line) => String(line.path).startsWith('/api/desk/export')),
        'the line of the log',
      );
      expect(site.lines.filter(({ level }) => Number(level) >= 50)).toEqual([]);
    },
  );
});

const AUTHORIZED = { Authorization: `Bearer ${ADA.token}` };

/** Starts a real server with a hundred incidents. */
async function serve(options: Parameters<typeof startDeskSite>[0] = {}) {
  const site = await startDeskSite(options);
  await ingest(site.store, ...Array.from({ length: 100 }, (_, index) => summaryOf({ digest: toDigest(index) })));
  const server: Server = createServer(site.app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { site, port, url: `http://127.0.0.1:${port}` };
}

/** Returns text that does not compress. */
function randomText(): string {
  return Array.from({ length: 100 }, () => Math.random().toString(36).slice(2)).join('');
}

/** Waits until a number has stopped growing. */
async function standsStill(read: () => number): Promise<number> {
  for (let last = -1; ; ) {
    const now = read();
    if (now === last) return now;
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 400));
  }
}
