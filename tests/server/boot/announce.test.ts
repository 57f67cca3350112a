import pino from 'pino';
import { expect, it } from 'vitest';
import { announce } from '../../../src/server/boot/serve-until-stopped.ts';

it('says at once where the server listens, although lines of the log wait for others', () => {
  const lines: string[] = [];
  const flushed: string[] = [];
  const output = { write: (line: string) => void lines.push(line), flush: () => void flushed.push(...lines) };
  announce('http://127.0.0.1:3000', pino({}, output));
  expect(flushed).toEqual([expect.stringContaining('Listening on http://127.0.0.1:3000')]);
});
