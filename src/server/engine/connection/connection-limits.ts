import { readFileSync } from 'node:fs';
import { ADDRESS_SHARE, MAX_CONNECTIONS, RESERVED_FILES } from '../../limits.ts';

export interface ConnectionLimits {
  /** Simultaneous connections (count). */
  readonly total: number;
  /** Of these, connections of one sender (count): see `toSender()`. */
  readonly ofSender: number;
}

/** @param ofSender a setting; by default a share of the total */
export function toConnectionLimits(total: number, ofSender?: number): ConnectionLimits {
  return { total, ofSender: ofSender ?? Math.ceil(total * ADDRESS_SHARE) };
}

/**
 * Returns how many connections this process can hold. Each takes a file descriptor, and the store, the journal and
 * connections to other servers need some too.
 *
 * @param openFiles how many files the system lets the process open; undefined if unlimited
 */
export function toMaxConnections(openFiles: number | undefined): number {
  if (openFiles === undefined) return MAX_CONNECTIONS;
  return Math.min(MAX_CONNECTIONS, openFiles - Math.min(RESERVED_FILES, Math.floor(openFiles / 2)));
}

/** Reads `ulimit -n` of this process; undefined if unlimited, and on systems other than Linux. */
export function readOpenFileLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
