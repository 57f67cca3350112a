import type { IncomingMessage } from 'node:http';
import type { Failure } from '../errors/failure.ts';

/** What reports of browsers need from the place that failures go to. */
export interface ReportStore {
  /** Stores a failure. Returns false if that failed. */
  journal(failure: Failure): boolean;
  /** Whether the server's failure at this address still needs an echo. A rejection counts as no. */
  isEchoAwaited(address: string): Promise<boolean>;
  /** Whether a digest is already known. A rejection counts as no. */
  isKnownDigest(digest: string): boolean | Promise<boolean>;
  /** Lists earlier builds. Of two with the same release, the newer one comes first. */
  listBuilds(): Promise<readonly { readonly id: string; readonly release: string }[]>;
}

/** Returns whether the sender can open the URL of a failure. A promise only if that takes time. */
export type MayOpen = (req: IncomingMessage) => boolean | Promise<boolean>;
