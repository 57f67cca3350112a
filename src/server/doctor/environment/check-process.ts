import { readFileSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';
import { toMebibytes } from '../../../shared/desk/words.ts';
import { MiB } from '../../../shared/units.ts';
import { toConnectionLimits, toMaxConnections } from '../../engine/connection/connection-limits.ts';
import { describeNodeFloor } from '../../engine/monitoring/node-floor.ts';
import { MAX_CONNECTIONS, RESERVED_FILES } from '../../limits.ts';
import { type Finding, toOk, toSetting } from '../finding.ts';

/** @param version without a `v` */
export function judgeNode(version: string): Finding {
  const about = 'Node';
  const found = describeNodeFloor(version);
  return found === undefined ? toOk(about, `${version}.`) : { about, mark: 'warning', found };
}

export interface Memory {
  /** Bytes that the control group may have; undefined where there is no limit. */
  readonly limit: number | undefined;
  /** Bytes that the server's heap may have. */
  readonly heap: number;
}

/** With less, a hundred visitors beside some uploads were too many (bytes; docs/operating.md). */
const MIN_MEMORY = 256 * MiB;
/** The rest is for the desk's thread, buffers and the code (a part of one). */
const MAX_HEAP_PART = 0.75;

export function judgeMemory({ limit, heap }: Memory): Finding {
  const about = 'Memory';
  if (limit === undefined) return toOk(about, `No limit is set; the heap may have ${toMebibytes(heap)}.`);
  const words = `The limit is ${toMebibytes(limit)}, and the heap may have ${toMebibytes(heap)} of it`;
  if (heap > limit * MAX_HEAP_PART) {
    return {
      about,
      mark: 'warning',
      found: `${words}: the system would end the server before Node frees what it can.`,
      advice: 'Start it as the image does: node --max-old-space-size-percentage=60 dist/server/main.js',
    };
  }
  if (limit < MIN_MEMORY) {
    return {
      about,
      mark: 'warning',
      found: `${words}: too little for a hundred visitors at once.`,
      advice: `Give it ${toMebibytes(MIN_MEMORY)} or more.`,
    };
  }
  return toOk(about, `${words}.`);
}

export interface Connecting {
  /** Files that the system lets the process open (a count); undefined without a limit. */
  readonly openFiles: number | undefined;
  /** MAX_CONNECTIONS_PER_ADDRESS (a count); undefined if it is not set. */
  readonly perAddress: number | undefined;
}

export function judgeConnections({ openFiles, perAddress }: Connecting): Finding {
  const about = 'Connections';
  const { total, ofSender } = toConnectionLimits(toMaxConnections(openFiles), perAddress);
  const found = `The server holds up to ${total} connections, ${ofSender} of one address`;
  if (ofSender >= total) {
    return {
      about,
      mark: 'warning',
      found: `${found}, so one visitor can take all of them.`,
      advice: 'Unset MAX_CONNECTIONS_PER_ADDRESS, or lower it.',
      remedies: toSetting(`MAX_CONNECTIONS_PER_ADDRESS=${toConnectionLimits(total).ofSender}`),
    };
  }
  if (total < MAX_CONNECTIONS) {
    return {
      about,
      mark: 'warning',
      found: `${found}, because the system lets the process open only ${openFiles} files.`,
      advice: `Raise the limit to ${MAX_CONNECTIONS + RESERVED_FILES} or more: ulimit -n, LimitNOFILE= in systemd, --ulimit nofile= in Docker.`,
    };
  }
  return toOk(about, `${found}.`);
}

export function measureMemory(): Memory {
  const limit = process.constrainedMemory();
  const isLimited = limit > 0 && limit < Number.MAX_SAFE_INTEGER;
  const ofServer = readServerArguments().map((argument) => toHeapLimit(argument, limit));
  return {
    limit: isLimited ? limit : undefined,
    // Where no server is known it would be started as this was.
    heap: ofServer.findLast((bytes) => bytes !== undefined) ?? getHeapStatistics().heap_size_limit,
  };
}

/** Of the server that a container was started for; none where there is no such server. */
function readServerArguments(): readonly string[] {
  try {
    const words = readFileSync('/proc/1/cmdline', 'utf8').split('\0');
    return words.some((word) => word.endsWith('server/main.js')) ? words : [];
  } catch {
    return [];
  }
}

/** @returns bytes; undefined for what says nothing of it */
export function toHeapLimit(argument: string, limit: number): number | undefined {
  const [, percentage, mebibytes] = /^--max-old-space-size(?:-percentage=(\d+)|=(\d+))$/.exec(argument) ?? [];
  if (percentage !== undefined) return (limit * Number(percentage)) / 100;
  return mebibytes === undefined ? undefined : Number(mebibytes) * MiB;
}
