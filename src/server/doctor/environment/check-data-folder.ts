import { existsSync, readFileSync, realpathSync, statfsSync } from 'node:fs';
import { toMebibytes } from '../../../shared/desk/words.ts';
import { MiB } from '../../../shared/units.ts';
import { findExisting, requireWritable, UnwritableFolderError } from '../../desk/data-folder.ts';
import type { Environment } from '../../engine/settings.ts';
import { type Finding, toOk, toUnknown } from '../finding.ts';

/** The line of `/proc/self/mountinfo` that a folder lies on (proc(5)). */
export interface Mount {
  readonly point: string;
  /** `ext4`, `overlay`, `tmpfs` */
  readonly type: string;
}

export interface FolderOptions {
  readonly dataDir: string;
  /** `/proc/self/mountinfo`; empty where there is none. */
  readonly mounts: string;
  readonly isContainer: boolean;
  /** Others than whoever develops it are meant to reach it. */
  readonly isServing: boolean;
  /** The desk is in PostgreSQL: in the folder is what waits to go there. */
  readonly isShared: boolean;
  /** `DESK_MAX_SIZE` (bytes). */
  readonly maxStoreBytes: number;
}

/** Room for the journal (256 MB), the queue of reports (64 MB) and files of builds (200 MB) (bytes). */
const OTHER_ROOM = 520 * MiB;
/** A start needs more than this (bytes). */
const NO_ROOM = 64 * MiB;

export function checkDataFolder(options: FolderOptions): Finding[] {
  const { dataDir } = options;
  try {
    requireWritable(dataDir);
  } catch (error) {
    if (error instanceof UnwritableFolderError) return [{ about: 'DATA_DIR', mark: 'wrong', found: error.message }];
    throw error;
  }
  const existing = realpathSync(findExisting(dataDir));
  const { bavail, bsize } = statfsSync(existing);
  return [
    toOk('DATA_DIR', `${dataDir} ${existsSync(dataDir) ? 'can be written to' : 'will be made by the first start'}.`),
    judgeMount(findMount(existing, options.mounts), options),
    judgeRoom(bavail * bsize, OTHER_ROOM + (options.isShared ? 0 : options.maxStoreBytes)),
  ];
}

/** Where what a folder holds goes with the container, or the machine. */
export function judgeMount(
  mount: Mount | undefined,
  { dataDir, isContainer, isServing, isShared }: Omit<FolderOptions, 'mounts' | 'maxStoreBytes'>,
): Finding {
  const about = 'What it lies on';
  if (!mount) return toUnknown(about, 'This system does not say.');
  const isMemory = mount.type === 'tmpfs' || mount.type === 'ramfs';
  const isOfContainer = isContainer && (mount.type === 'overlay' || mount.point === '/');
  if (!isMemory && !isOfContainer) return toOk(about, `${mount.type}, mounted at ${mount.point}.`);
  const where = isMemory ? 'memory, which is empty after a restart' : "the container's own files, which go with it";
  const lost = isShared ? 'what waits for PostgreSQL' : 'all that the desk knows';
  return {
    about,
    mark: isServing && !isShared ? 'wrong' : 'warning',
    found: `It lies in ${where}: ${lost} is lost then.`,
    advice: `Mount a volume there: docker run -v spillway:${dataDir} …`,
  };
}

/** The innermost mount around a path. @param path absolute, without links */
export function findMount(path: string, mounts: string): Mount | undefined {
  const around = mounts.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const point = before
      .split(' ')[4]
      ?.replace(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
    const type = after.split(' ')[0];
    if (!point || !type) return [];
    const isAround = point === '/' || path === point || path.startsWith(`${point}/`);
    return isAround ? [{ point, type }] : [];
  });
  // Of two at one place the later one lies on top.
  return around.reduce<Mount | undefined>(
    (inner, mount) => (inner && inner.point.length > mount.point.length ? inner : mount),
    undefined,
  );
}

/** @param free bytes. @param enough what the server may come to need (bytes) */
export function judgeRoom(free: number, enough: number): Finding {
  const about = 'Room';
  const found = `${toMebibytes(free)} are free.`;
  if (free > enough) return toOk(about, found);
  return {
    about,
    mark: free < NO_ROOM ? 'wrong' : 'warning',
    found,
    advice: `Free some space, or set DESK_MAX_SIZE lower: the store, the journal and queued reports can need ${toMebibytes(enough)}.`,
  };
}

export function readMounts(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return '';
  }
}

/** What Docker, Podman and Kubernetes leave for whoever asks; or a root that is put together of layers. */
export function isInContainer(mounts: string, { KUBERNETES_SERVICE_HOST }: Environment): boolean {
  if (['/.dockerenv', '/run/.containerenv'].some((path) => existsSync(path))) return true;
  return KUBERNETES_SERVICE_HOST !== undefined || findMount('/', mounts)?.type === 'overlay';
}
