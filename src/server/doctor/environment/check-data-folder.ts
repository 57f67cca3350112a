import { existsSync, readFileSync, realpathSync, statfsSync } from 'node:fs';
import { MiB } from '../../../shared/units.ts';
import { toMebibytes } from '../../../shared/words.ts';
import { findExisting, requireWritable, UnwritableFolderError } from '../../boot/data-folder.ts';
import { DESTINATION_FILES } from '../../destination-settings.ts';
import type { Environment } from '../../engine/settings.ts';
import { type Checks, type Finding, judge, ok, toFinding, unknown, warning, wrong } from '../finding.ts';
import type { StoredData } from '../more-checks.ts';

export interface FolderOptions {
  readonly dataDir: string;
  /** `/proc/self/mountinfo`; empty if there is none. */
  readonly mounts: string;
  readonly isContainer: boolean;
  /** Whether it serves others than its developer. */
  readonly isServing: boolean;
  readonly stored: StoredData;
}

export interface FolderFacts extends FolderOptions {
  readonly mount: Mount | undefined;
  /** Bytes. */
  readonly free: number;
}

/** A line of `/proc/self/mountinfo` (proc(5)). */
export interface Mount {
  readonly point: string;
  /** `ext4`, `overlay`, `tmpfs` */
  readonly type: string;
}

/** A start needs more than this (bytes). */
const NO_SPACE = 64 * MiB;

export const FOLDER_CHECKS = {
  /** Can the server write there? */
  DATA_DIR({ dataDir }) {
    return ok(existsSync(dataDir) ? `${dataDir} is writable.` : `The first start creates ${dataDir}.`);
  },

  /** Does the data survive a restart of the container or the machine? */
  Volume({ mount, dataDir, isContainer, isServing, stored }) {
    if (!mount) return unknown('This system does not show its mounts.');
    const isMemory = mount.type === 'tmpfs' || mount.type === 'ramfs';
    const isOfContainer = isContainer && (mount.type === 'overlay' || mount.point === '/');
    if (!isMemory && !isOfContainer) return ok(`${mount.type}, mounted at ${mount.point}.`);
    const where = isMemory ? 'in memory, which a restart clears' : 'in the container, and is deleted with it';
    const judged = isServing && stored.isPrecious ? wrong : warning;
    return judged(
      `DATA_DIR is ${where}. You would lose ${stored.name}.`,
      `Mount a volume: docker run -v spillway:${dataDir} …`,
    );
  },

  /** Is there enough space for everything that the server can store? */
  'Free space'({ free, stored: { maxBytes: needed, advice } }) {
    const found = `${toMebibytes(free)} are free.`;
    if (free > needed) return ok(found);
    const judged = free < NO_SPACE ? wrong : warning;
    return judged(found, `${advice} What is stored can need ${toMebibytes(needed)}.`);
  },
} satisfies Checks<FolderFacts>;

export function checkDataFolder(options: FolderOptions): Finding[] {
  const { dataDir, mounts } = options;
  try {
    requireWritable(dataDir, DESTINATION_FILES);
  } catch (error) {
    if (error instanceof UnwritableFolderError) return [toFinding('DATA_DIR', wrong(error.message))];
    throw error;
  }
  const existing = realpathSync(findExisting(dataDir));
  const { bavail, bsize } = statfsSync(existing);
  return judge(FOLDER_CHECKS, { ...options, mount: findMount(existing, mounts), free: bavail * bsize });
}

/** Finds the innermost mount of a path. @param path absolute, without links */
export function findMount(path: string, mounts: string): Mount | undefined {
  return [...mounts.matchAll(/^(?:\S+ ){4}(\S+) .*? - (\S+) /gm)]
    .map(([, point = '', type = '']): Mount => ({ point: unescapeOctal(point), type }))
    .filter(({ point }) => `${path}/`.startsWith(point === '/' ? point : `${point}/`))
    .sort((one, other) => one.point.length - other.point.length) // of two at the same point, the later one is on top
    .at(-1);
}

function unescapeOctal(text: string): string {
  return text.replace(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

export function readMounts(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return '';
  }
}

/** Looks for what Docker, Podman and Kubernetes add, or a root file system made of layers. */
export function isInContainer(mounts: string, { KUBERNETES_SERVICE_HOST }: Environment): boolean {
  if (['/.dockerenv', '/run/.containerenv'].some((path) => existsSync(path))) return true;
  return KUBERNETES_SERVICE_HOST !== undefined || findMount('/', mounts)?.type === 'overlay';
}
