import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { toRequestLine } from '../../../../src/server/engine/monitoring/logger.ts';

const time = new Date(2026, 10, 22, 9, 5, 7).getTime();

function show(entry: Record<string, unknown>): string | undefined {
  const line = toRequestLine(JSON.stringify({ level: 30, time, method: 'GET', ms: 12.3, ...entry }));
  return line && stripVTControlCharacters(line);
}

describe('a request in a terminal', () => {
  it('is shown on one line', () => {
    const entry = { requestId: 'x', path: '/tour', route: '/tour', bytes: 9, msg: 'request' };
    expect(show({ ...entry, status: 200 })).toBe('09:05:07 GET /tour 200 12.3 ms\n');
    expect(show({ ...entry, status: 500, digest: '7K3QM2XA-0123456Z' })).toBe(
      '09:05:07 GET /tour 500 12.3 ms  7K3QM2XA-0123456Z\n',
    );
    expect(show({ ...entry, status: 200, gone: true })).toBe('09:05:07 GET /tour 200 12.3 ms  the visitor left\n');
  });

  it('is hidden for an asset that was served', () => {
    expect(show({ path: '/assets/main-1.js', status: 200, msg: 'request' })).toBe('');
    expect(show({ path: '/assets/main-1.js', status: 404, msg: 'request' })).toContain('404');
  });
});
