import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LateHeartbeat } from '../../store/servers/process-table.ts';

const NAME = 'beat.json';

/** Writes the heartbeat to a file next to the journal, for when the store is unavailable. */
export function writeHeartbeatFile(folder: string, beat: LateHeartbeat): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, NAME), JSON.stringify(beat), { mode: 0o600 });
  } catch {
    // The disk is not writable, so the end of this process will be unknown.
  }
}

export function removeHeartbeatFile(folder: string): void {
  rmSync(join(folder, NAME), { force: true });
}

/** @returns undefined if the process had a store, or was killed while it wrote the file */
export function readHeartbeatFile(folder: string): LateHeartbeat | undefined {
  try {
    const beat: unknown = JSON.parse(readFileSync(join(folder, NAME), 'utf8'));
    return isLateHeartbeat(beat) ? beat : undefined;
  } catch {
    return undefined;
  }
}

function isLateHeartbeat(value: unknown): value is LateHeartbeat {
  if (typeof value !== 'object' || value === null) return false;
  const { id, beatAt, startedAt, memory, inFlight } = value as Record<string, unknown>;
  const numbers = [beatAt, startedAt, memory];
  return typeof id === 'string' && numbers.every((number) => typeof number === 'number') && Array.isArray(inFlight);
}
