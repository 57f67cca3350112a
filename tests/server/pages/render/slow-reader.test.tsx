import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Suspense, use } from 'react';

import { expect, it } from 'vitest';
import { useData } from '../../../../src/shared/rendering/hooks.ts';
import { startPage } from '../../../support/pages-app.tsx';
import { openSocket } from '../../../support/raw-http.ts';
import { until } from '../../../support/until.ts';

/** The number of parts of 10 kB each. More than the kernel buffers on a loopback connection. */
const PARTS = 2000;
const PART = 'a part of a page that is much too long. '.repeat(250);

function Part({ late }: { late: Promise<string> }) {
  return (
    <p>
      {use(late)} {PART}
    </p>
  );
}

function Long() {
  const { parts } = useData<{ parts: Promise<string>[] }>();
  return parts.map((late, index) => (
    <Suspense key={String(index)} fallback={<i />}>
      <Part late={late} />
    </Suspense>
  ));
}

it('sends a page no faster than it is read, and completely', async () => {
  let reply: ServerResponse | undefined;
  // The parts themselves are short. The page makes long text of them.
  const loader = () => ({ parts: Array.from({ length: PARTS }, (_, part) => sleep(part / 10, `part ${part}`)) });
  const app = await startPage(
    { view: Long, server: { loader } },
    {
      steps: [
        (_req, res, next) => {
          reply = res;
          next();
        },
      ],
    },
  );
  const visit = openSocket(app.port, 'GET /page HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  visit.socket.pause();
  await until(() => (reply?.socket?.bytesWritten ?? 0) > 0, 'the first bytes');
  await sleep(PARTS / 10 + 500);

  expect(reply?.writableFinished).toBe(false);
  expect(reply?.writableLength).toBeLessThan(1_000_000);

  visit.socket.resume();
  await visit.closed;
  // The sizes of chunks stand anywhere in the text.
  const page = visit.text.replace(/\r\n[0-9a-f]+\r\n/g, '');
  expect(page.split(PART)).toHaveLength(PARTS + 1);
  expect(visit.text.trimEnd()).toMatch(/<\/body><\/html>\s+0$/);
}, 60_000);
