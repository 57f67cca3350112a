import type { DigestInput, DigestResult } from '../../../engine/errors/digest/create-digest.ts';
import type { Failure } from '../../../engine/errors/failure.ts';
import type { Scrubber } from '../../../engine/errors/scrub.ts';
import { cutText } from '../../../engine/errors/trim.ts';

/** What takes secrets out of what is kept and passed on. */
export type ReportScrubber = Pick<Scrubber, 'text' | 'url' | 'value'>;

export type MakeReportDigest = (input: DigestInput) => DigestResult;

/** A build that was published to the store. */
export interface KnownBuild {
  readonly build: string;
  readonly release: string;
}

/** What makes a failure of a report. */
export interface FailureParts {
  readonly scrubber: ReportScrubber;
  readonly makeDigest: MakeReportDigest;
  /** The build of this id, or the newest one of this release; undefined where nobody knows it. */
  readonly findBuild: (named: string) => Promise<KnownBuild | undefined>;
  /** Whether a route has this pattern. */
  readonly isRoute: (pattern: string) => boolean;
  readonly trim: (failure: Failure) => Failure;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Who sent it, as the server itself knows. */
export interface Sender {
  /** The origin under which the request was answered. */
  readonly origin: string;
  readonly isOurs: (origin: string) => boolean;
  readonly userAgent: string | undefined;
  readonly visitor: string;
  /** Of the connection, or what a trusted proxy says it is. */
  readonly address: string;
  /** Other hashes of the same visitor since yesterday. */
  readonly sameVisitor: readonly string[];
}

/** Room beyond what is kept: a secret that is cut in half is one that no pattern knows (UTF-16 code units). */
const SCRUB_MARGIN = 500;

/** Text of a stranger, scrubbed and then cut. */
export function toScrubbed(text: string, scrubber: ReportScrubber, maxLength: number): string {
  return cutText(scrubber.text(text.slice(0, maxLength + SCRUB_MARGIN)), maxLength);
}
