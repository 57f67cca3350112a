import { expect, it } from 'vitest';
import {
  type Memory,
  PROCESS_CHECKS,
  type ProcessFacts,
  toHeapLimit,
} from '../../../../src/server/doctor/environment/check-process.ts';
import { MiB } from '../../../../src/shared/units.ts';

const facts: ProcessFacts = {
  version: '26.12.1',
  memory: { limit: undefined, heap: 4096 * MiB },
  openFiles: undefined,
  perAddress: undefined,
};

it.each([
  ['24.22.0', 'warning'],
  ['24.22.1', 'ok'],
  ['24.23.0', 'ok'],
  ['25.9.0', 'warning'],
  ['26.10.0', 'warning'],
  ['26.12.1', 'ok'],
  ['27.0.0', 'ok'],
])('judges Node %s', (version, mark) => expect(PROCESS_CHECKS.Node({ ...facts, version }).mark).toBe(mark));

it('compares the heap limit with the memory', () => {
  const judgeMemory = (memory: Memory) => PROCESS_CHECKS.Memory({ ...facts, memory });
  expect(judgeMemory({ limit: undefined, heap: 4096 * MiB }).mark).toBe('ok');
  expect(judgeMemory({ limit: 512 * MiB, heap: 307 * MiB }).mark).toBe('ok');
  expect(judgeMemory({ limit: 512 * MiB, heap: 500 * MiB })).toMatchObject({
    mark: 'warning',
    advice: expect.stringContaining('--max-old-space-size-percentage=60'),
  });
  expect(judgeMemory({ limit: 192 * MiB, heap: 115 * MiB })).toMatchObject({
    mark: 'warning',
    advice: 'Give it 256 MiB or more.',
  });
});

it('compares connections with the open-file limit, and the limit per address with the total', () => {
  const judge = (openFiles?: number, perAddress?: number) =>
    PROCESS_CHECKS.Connections({ ...facts, openFiles, perAddress });
  expect(judge()).toMatchObject({ mark: 'ok', found: 'The server holds up to 8192 connections, 2048 of one address.' });
  expect(judge(1024)).toMatchObject({
    mark: 'warning',
    found: expect.stringContaining(
      '768 connections, 192 of one address, because the system lets the process open only 1024',
    ),
    advice: expect.stringContaining('8448'),
  });
  expect(judge(undefined, 9000)).toMatchObject({
    mark: 'warning',
    lines: { setting: 'MAX_CONNECTIONS_PER_ADDRESS=2048' },
  });
});

it('reads the heap limit from the start command', () => {
  expect(toHeapLimit('--max-old-space-size-percentage=60', 1000)).toBe(600);
  expect(toHeapLimit('--max-old-space-size=300', 1000)).toBe(300 * MiB);
  expect(toHeapLimit('dist/server/main.js', 1000)).toBeUndefined();
});
