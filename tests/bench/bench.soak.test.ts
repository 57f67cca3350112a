import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const bench = fileURLToPath(new URL('../../bench/bench.mjs', import.meta.url));

interface Row {
  readonly work: string;
  readonly title: string;
  readonly values: Readonly<Record<'bare' | 'express' | 'spillway', number>>;
}

it('measures the same answers from all sides, each of which is complete', async () => {
  const works = ['cards', 'deferred', 'api'];
  const args = [bench, '--only', works.join(','), '--rounds', '1', '--seconds', '0.1', '--json'];
  // On a busy machine, Spillway would refuse pages.
  const env = { ...process.env, OVERLOAD_DELAY: '0' };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  const { rows } = JSON.parse(stdout) as { rows: readonly Row[] };
  expect(new Set(rows.map(({ work }) => work))).toEqual(new Set(works));
  for (const { title, values } of rows) {
    // On a busy machine, a tenth of a second can be less than a tick of CPU time.
    for (const side of ['bare', 'express', 'spillway'] as const) expect(values[side], title).toBeGreaterThanOrEqual(0);
  }
}, 300_000);
