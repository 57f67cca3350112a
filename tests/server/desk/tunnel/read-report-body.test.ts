import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createReportBodies } from '../../../../src/server/desk/tunnel/read-report-body.ts';
import { VisitorGone } from '../../../../src/server/engine/errors/visitor-gone.ts';
import { until } from '../../../support/until.ts';

/** Whom no request of these waits for. */
const NOBODY = {
  writeContinue() {
    throw new Error('Nobody waits to be asked.');
  },
};

function createRequest(headers: Record<string, string> = {}): IncomingMessage {
  const req = new IncomingMessage(new Socket());
  Object.assign(req.headers, headers);
  return req;
}

describe('createReportBodies()', () => {
  it('is full while unfinished bodies hold as much as they may together', async () => {
    const bodies = createReportBodies({ maxHeldBytes: 100 });
    const slow = [createRequest(), createRequest()];
    const read = slow.map((req) => bodies.read(req, NOBODY));
    for (const req of slow) req.push(Buffer.alloc(60));
    await until(() => bodies.full, 'both beginnings');
    for (const req of slow) req.push(null);
    expect((await Promise.all(read)).map(({ length }) => length)).toEqual([60, 60]);
    expect(bodies.full).toBe(false);
  });

  it('holds nothing of those who left', async () => {
    const bodies = createReportBodies({ maxHeldBytes: 100 });
    const req = createRequest();
    const read = bodies.read(req, NOBODY);
    req.push(Buffer.alloc(200));
    await until(() => bodies.full, 'the beginning');
    req.destroy();
    await expect(read).rejects.toBeInstanceOf(VisitorGone);
    expect(bodies.full).toBe(false);
  });

  it.each([
    ['a length that is too large', { 'content-length': '2000000', expect: '100-continue' }, 413],
    ['another coding', { 'content-encoding': 'br', expect: '100-continue' }, 415],
  ])('refuses %s before it asks or reads', async (_name, headers, status) => {
    const req = createRequest(headers);
    await expect(createReportBodies().read(req, NOBODY)).rejects.toMatchObject({ status });
    expect(req.readableFlowing).toBeNull();
  });

  it('refuses what is too large as soon as it is, and reads the rest away', async () => {
    const req = createRequest();
    const read = createReportBodies().read(req, NOBODY);
    for (let turn = 0; turn < 5; turn += 1) req.push(Buffer.alloc(300_000));
    await expect(read).rejects.toMatchObject({ status: 413 });
    expect(req.readableFlowing).toBe(true);
    req.push(null);
    await until(() => req.readableEnded, 'the end');
  });
});
