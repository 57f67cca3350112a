import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Container, whyNot } from './container.ts';
import { createVolume, PATIENCE, readDesk, run, useImage } from './harness.ts';

const obstacle = whyNot();

const image = useImage();

describe.skipIf(obstacle !== undefined)('with a volume that fails while it runs, a container', () => {
  it.each([
    [
      'is full',
      (data: string) => void spawnSync('dd', ['if=/dev/zero', `of=${data}/ballast`, 'bs=1M', 'count=64']),
      true,
    ],
    ['is read-only', (data: string) => void spawnSync('chmod', ['-R', 'a-w', data]), false],
  ])(
    'serves pages if the volume %s, acknowledges only reports that it stored, and logs it seldom',
    async (_name, spoil, isFull) => {
      const data = createVolume(image(), 32);
      const container = await run(image(), { data });
      await readDesk(container); // waits for the store
      const kept = await report(container, 1);
      expect(kept.map(({ status }) => status)).toEqual([200]);

      spoil(data);
      const spoilt = await report(container, 40);
      expect((await site(container)).page).toBe(200);
      // Not always the last: moving the journal into the store frees space for more. A file that is open stays writable,
      // regardless of later permissions.
      if (isFull) expect(spoilt.map(({ status }) => status)).toContain(503);
      expect(spoilt.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);

      rmSync(join(data, 'ballast'), { force: true });
      spawnSync('chmod', ['-R', 'u+w', data]);
      await expect.poll(async () => (await report(container, 1))[0]?.status, PATIENCE).toBe(200);
      await expect
        .poll(async () => (await site(container)).ready, PATIENCE)
        .toEqual({
          status: 'ready',
          store: 'reachable',
          journal: 'written',
          worker: 'running',
        });
      const acknowledged = [...kept, ...spoilt]
        .filter(({ status }) => status === 200)
        .map(({ digest }) => `/${digest}`);
      await expect.poll(() => readDesk(container, acknowledged), PATIENCE).toEqual(acknowledged.map(() => 200));
      const count = (words: string) => container.log().split(words).length - 1;
      for (const [away, back] of [
        ['The journal cannot be written, so', 'The journal can be written again.'],
        ["The desk's store cannot be used. Pages", "The desk's store is back."],
      ] as const) {
        // Once each time that space runs out, not for each of the 40 reports.
        expect(count(away), away).toBeLessThanOrEqual(count(back) + 1);
      }
      container.kill('SIGTERM');
      expect(await container.ended).toMatchObject({ code: 0 });
    },
  );
});

/** The responses to a visitor and to a probe. */
function site(container: Container): Promise<{ page: number; ready: unknown }> {
  return container.beside(`
    const page = await fetch('http://127.0.0.1:3000/');
    const ready = await (await fetch('http://127.0.0.1:3000/readyz')).json();
    console.log(JSON.stringify({ page: page.status, ready }));`);
}

/** Reports different failures of 4 kB each, like a browser. */
function report(container: Container, count: number): Promise<{ status: number; digest?: string }[]> {
  return container.beside(`
    const { randomBytes } = await import('node:crypto');
    const replies = [];
    for (let index = 0; index < ${count}; index += 1) {
      const event_id = randomBytes(16).toString('hex');
      const values = [{ type: 'Error' + event_id.slice(0, 8), value: randomBytes(2000).toString('hex') }];
      const event = { event_id, platform: 'javascript', exception: { values } };
      const body = [{ dsn: 'https://spillway@127.0.0.1:3000/1' }, { type: 'event' }, event].map((part) => JSON.stringify(part)).join('\\n');
      const reply = await fetch('http://127.0.0.1:3000/_report', { method: 'POST', body });
      const text = await reply.text();
      replies.push({ status: reply.status, ...(reply.status === 200 && { digest: JSON.parse(text).digest }) });
    }
    console.log(JSON.stringify(replies));`);
}
