import { expect, it } from 'vitest';
import { createFunnel } from '../../../../src/server/engine/errors/funnel.ts';
import { spyOnLog, startTestServer } from '../../../support/app.ts';
import { noScrubber } from '../../../support/unguarded.ts';

it.each([true, false])(
  'reports a write after the end as a failure of that request, compressed: %s',
  async (compression) => {
    const { log, lines } = spyOnLog();
    const server = await startTestServer({
      log,
      compression,
      funnel: createFunnel({ scrubber: noScrubber, log, build: 'test' }),
      steps: [
        (req, res, next) => {
          if (!req.url.startsWith('/late')) return next();
          res.end('whole');
          res.end();
          res.write('late');
        },
      ],
    });
    try {
      const response = await fetch(`http://127.0.0.1:${server.port}/late`);
      expect(await response.text()).toBe('whole');
      await expect.poll(() => lines.filter(({ digest }) => digest !== undefined)).toHaveLength(1);
      const [line] = lines.filter(({ origin }) => origin !== undefined);
      expect(line).toMatchObject({
        origin: 'request',
        title: expect.stringContaining('LateWrite: The reply had ended'),
        requestId: response.headers.get('X-Request-Id'),
      });
      expect((await fetch(`http://127.0.0.1:${server.port}/api/echo`)).status).toBe(200);
    } finally {
      server.close();
    }
  },
);
