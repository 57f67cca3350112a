import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  checkDataFolder,
  FOLDER_CHECKS,
  type FolderFacts,
  findMount,
  isInContainer,
} from '../../../../src/server/doctor/environment/check-data-folder.ts';
import { MiB } from '../../../../src/shared/units.ts';
import { createFolder } from '../../../support/folder.ts';

const MOUNTS = `
22 1 0:40 / / rw,relatime - overlay overlay rw,lowerdir=/a
23 22 0:41 / /proc rw - proc proc rw
24 22 8:1 /volumes/x /data rw,relatime shared:1 - ext4 /dev/sda1 rw
25 22 0:42 / /with\\040blank rw - tmpfs tmpfs rw
26 24 0:43 / /data/fast rw - tmpfs tmpfs rw
`;

const WAITING = { name: 'data that waits', isPrecious: false, maxBytes: 520 * MiB, advice: 'Free some space.' };

const container: FolderFacts = {
  dataDir: '/data',
  mounts: '',
  isContainer: true,
  isServing: true,
  stored: { name: 'everything', isPrecious: true, maxBytes: 1020 * MiB, advice: 'Free some space.' },
  mount: undefined,
  free: 2048 * MiB,
};

it('finds the mount of a folder', () => {
  expect(findMount('/data/journal', MOUNTS)).toEqual({ point: '/data', type: 'ext4' });
  expect(findMount('/data/fast', MOUNTS)?.type).toBe('tmpfs');
  expect(findMount('/database', MOUNTS)).toEqual({ point: '/', type: 'overlay' });
  expect(findMount('/with blank/x', MOUNTS)?.type).toBe('tmpfs');
  expect(findMount('/data', '')).toBeUndefined();
});

describe('the volume of a folder', () => {
  it.each([
    ['a volume', { point: '/data', type: 'ext4' }, {}, 'ok'],
    ["the container's own files", { point: '/', type: 'overlay' }, {}, 'wrong'],
    ["the container's own files, on another driver", { point: '/', type: 'btrfs' }, {}, 'wrong'],
    ['a disk of the machine', { point: '/', type: 'ext4' }, { isContainer: false }, 'ok'],
    ['memory', { point: '/data', type: 'tmpfs' }, { isContainer: false }, 'wrong'],
    ["a developer's container", { point: '/', type: 'overlay' }, { isServing: false }, 'warning'],
    [
      "the container's own files, with data that waits",
      { point: '/', type: 'overlay' },
      { stored: WAITING },
      'warning',
    ],
    ['an unknown mount', undefined, {}, 'unknown'],
  ])('%s', (_name, mount, change, mark) =>
    expect(FOLDER_CHECKS.Volume({ ...container, mount, ...change }).mark).toBe(mark),
  );
});

it('recognizes a container by its mounts, or by what its runtime provides', () => {
  expect(isInContainer(MOUNTS, {})).toBe(true);
  expect(isInContainer('', { KUBERNETES_SERVICE_HOST: '10.0.0.1' })).toBe(true);
});

it('checks the free space', () => {
  const judge = (free: number) => FOLDER_CHECKS['Free space']({ ...container, free }).mark;
  expect([judge(2048 * MiB), judge(300 * MiB), judge(10 * MiB)]).toEqual(['ok', 'warning', 'wrong']);
});

it('creates no folder, and reports a file in its place', () => {
  const folder = createFolder(onTestFinished);
  const options = { ...container, dataDir: join(folder, 'not/there') };
  expect(checkDataFolder(options)[0]).toMatchObject({ mark: 'ok', found: expect.stringContaining('first start') });
  writeFileSync(join(folder, 'not'), '');
  expect(checkDataFolder(options)).toEqual([
    expect.objectContaining({ mark: 'wrong', found: expect.stringContaining('DATA_DIR') }),
  ]);
});
