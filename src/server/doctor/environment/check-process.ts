import { readFileSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';
import { MiB } from '../../../shared/units.ts';
import { toMebibytes } from '../../../shared/words.ts';
import { toConnectionLimits, toMaxConnections } from '../../engine/connection/connection-limits.ts';
import { describeNodeFloor } from '../../engine/monitoring/node-floor.ts';
import { MAX_CONNECTIONS, RESERVED_FILES } from '../../limits.ts';
import { type Checks, ok, warning } from '../finding.ts';

/** With less memory, a hundred concurrent visitors and some uploads were too many (bytes; docs/operating.md). */
const MIN_MEMORY = 256 * MiB;
/** The rest is for other threads, buffers and code. */
const MAX_HEAP_SHARE = 0.75;

export interface ProcessFacts {
  /** The version of Node, without a `v`. */
  readonly version: string;
  readonly memory: Memory;
  /** The number of files that the process can open; undefined without a limit. */
  readonly openFiles: number | undefined;
  /** MAX_CONNECTIONS_PER_ADDRESS (a count). */
  readonly perAddress: number | undefined;
}

export interface Memory {
  /** The limit of the control group (bytes); undefined without a limit. */
  readonly limit: number | undefined;
  /** The limit of the server's heap (bytes). */
  readonly heap: number;
}

export const PROCESS_CHECKS = {
  /** Does this version of Node have every fix that the server needs? */
  Node({ version }) {
    const problem = describeNodeFloor(version);
    return problem === undefined ? ok(`${version}.`) : warning(problem);
  },

  /** Does the heap leave enough of the memory, and is there enough memory? */
  Memory({ memory: { limit, heap } }) {
    if (limit === undefined) return ok(`No limit is set. The heap can use ${toMebibytes(heap)}.`);
    const found = `The limit is ${toMebibytes(limit)}, and the heap can use ${toMebibytes(heap)}`;
    if (heap > limit * MAX_HEAP_SHARE) {
      return warning(
        `${found}: the system would kill the server before Node frees memory.`,
        'Start it as the image does: node --max-old-space-size-percentage=60 dist/server/main.js',
      );
    }
    if (limit < MIN_MEMORY) {
      return warning(
        `${found}: too little for a hundred visitors at the same time.`,
        `Give it ${toMebibytes(MIN_MEMORY)} or more.`,
      );
    }
    return ok(`${found}.`);
  },

  /** Can the server hold as many connections as it is designed for, and does one address leave some for others? */
  Connections({ openFiles, perAddress }) {
    const { total, ofSender } = toConnectionLimits(toMaxConnections(openFiles), perAddress);
    const found = `The server holds up to ${total} connections, ${ofSender} of one address`;
    if (ofSender >= total) {
      return warning(
        `${found}, so one visitor can take all of them.`,
        'Unset MAX_CONNECTIONS_PER_ADDRESS, or lower it.',
        { setting: `MAX_CONNECTIONS_PER_ADDRESS=${toConnectionLimits(total).ofSender}` },
      );
    }
    if (total < MAX_CONNECTIONS) {
      return warning(
        `${found}, because the system lets the process open only ${openFiles} files.`,
        `Raise the limit to ${MAX_CONNECTIONS + RESERVED_FILES} or more: ulimit -n, LimitNOFILE= in systemd, --ulimit nofile= in Docker.`,
      );
    }
    return ok(`${found}.`);
  },
} satisfies Checks<ProcessFacts>;

export function measureMemory(): Memory {
  const limit = process.constrainedMemory();
  const ofServer = readServerArguments().map((argument) => toHeapLimit(argument, limit));
  return {
    limit: limit > 0 && limit < Number.MAX_SAFE_INTEGER ? limit : undefined,
    // Without a running server, the heap that it would get if it were started like this command.
    heap: ofServer.findLast((bytes) => bytes !== undefined) ?? getHeapStatistics().heap_size_limit,
  };
}

/** Returns the arguments of the server that this container was started for, if there is one. */
function readServerArguments(): readonly string[] {
  try {
    const words = readFileSync('/proc/1/cmdline', 'utf8').split('\0');
    return words.some((word) => word.endsWith('server/main.js')) ? words : [];
  } catch {
    return [];
  }
}

/** @returns bytes; undefined if the argument does not set the heap */
export function toHeapLimit(argument: string, limit: number): number | undefined {
  const [, percentage, mebibytes] = /^--max-old-space-size(?:-percentage=(\d+)|=(\d+))$/.exec(argument) ?? [];
  if (percentage !== undefined) return (limit * Number(percentage)) / 100;
  return mebibytes === undefined ? undefined : Number(mebibytes) * MiB;
}
