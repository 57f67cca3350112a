import { randomBytes } from 'node:crypto';
import { toOccurrence } from '../../../../shared/engine/reporting/address.ts';
import type { ErrorRecord, Failure } from '../../../engine/errors/failure.ts';
import type { DeadProcess } from '../../store/servers/process-table.ts';
import type { Digester } from '../maps/digester.ts';
import type { MemoryStory } from './heartbeat.ts';

/** Turns the last record of a process that was killed or ran out of memory into a failure. */
export function toDeathFailure(dead: DeadProcess, digester: Digester): Failure {
  const id = randomBytes(16).toString('hex');
  const { blocked, memoryStory } = dead;
  return {
    id,
    occurrence: toOccurrence(id),
    side: 'server',
    origin: 'process',
    at: dead.beatAt,
    build: dead.build,
    release: dead.release,
    errors: blocked ? [toBlockedRecord(blocked)] : [],
    extra: {
      run: dead.id,
      startedAt: dead.startedAt,
      lastHeardAt: dead.beatAt,
      memory: dead.memory,
      inFlight: dead.inFlight,
      ...(blocked && { blockedFor: blocked.ms }),
      ...(memoryStory && { memoryHistory: toHistory(memoryStory) }),
    },
    // Only the kind is in the digest, so that a leak that moves by a line stays in the same incident.
    ...digester.createDigest({ kind: 'unclean-death', side: 'server', errors: [] }),
  };
}

function toBlockedRecord({ ms, frames }: NonNullable<DeadProcess['blocked']>): ErrorRecord {
  return {
    class: 'BlockedLoop',
    message: `The event loop was blocked for ${ms} ms at the last heartbeat.`,
    frames,
  };
}

function toHistory({ at, step, points, heapLimit }: MemoryStory) {
  return { at, step, points, heapLimit };
}
