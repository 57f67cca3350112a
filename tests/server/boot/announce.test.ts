import pino from 'pino';
import { expect, it } from 'vitest';
import { announce } from '../../../src/server/boot/serve-until-stopped.ts';

it('says at once where the server listens, although lines of the log wait for others', () => {
  const lines: string[] = [];
  const flushed: string[] = [];
  const log = pino({}, { write: (line) => lines.push(line) });
  announce('http://127.0.0.1:3000', { log, flush: () => flushed.push(...lines) });
  expect(flushed).toEqual([expect.stringContaining('Listening on http://127.0.0.1:3000')]);
});
