import type { ErrorRecord, Failure, FailureKind, Site } from '../../engine/errors/failure.ts';

/** What takes secrets out of what is kept and passed on. */
export interface ReportScrubber {
  text(text: string): string;
  url(url: string): string;
  /** A copy like JSON, of bounded size. */
  value(value: unknown): unknown;
}

/** What a digest is made of, see `engine/errors/digest/create-digest.ts`. */
export interface ReportDigestInput {
  readonly kind?: FailureKind | undefined;
  readonly side: 'browser';
  /** Outermost first. */
  readonly errors: readonly ErrorRecord[];
  readonly route?: string | undefined;
  readonly details?: Readonly<Record<string, string>> | undefined;
}

export interface ReportDigest {
  readonly digest: string;
  readonly kind: FailureKind;
  readonly rule: number;
  readonly weak?: boolean | undefined;
  /** The frames name bundles that this build does not have. */
  readonly unresolved?: boolean | undefined;
  readonly site?: Site | undefined;
  readonly title: string;
}

export type MakeReportDigest = (input: ReportDigestInput) => ReportDigest;

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
}

/** Room beyond what is kept: a secret that is cut in half is one that no pattern knows (UTF-16 code units). */
const SCRUB_MARGIN = 500;

/** Text of a stranger, scrubbed and then cut. */
export function toScrubbed(text: string, scrubber: ReportScrubber, maxLength: number): string {
  const scrubbed = scrubber.text(text.slice(0, maxLength + SCRUB_MARGIN));
  return scrubbed.length > maxLength ? `${scrubbed.slice(0, maxLength - 1)}…` : scrubbed;
}
