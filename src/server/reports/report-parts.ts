import type { DigestInput, DigestResult } from '../errors/digest/create-digest.ts';
import type { Failure, Visitor } from '../errors/failure.ts';
import type { Scrubber } from '../errors/scrub.ts';
import { cutText } from '../errors/trim.ts';
import type { JsonRecord } from './read-report.ts';

/** Removes secrets from everything that is stored or forwarded. */
export type ReportScrubber = Pick<Scrubber, 'text' | 'url' | 'value'>;

export type MakeReportDigest = (input: DigestInput) => DigestResult;

/** A build that was published to the store. */
export interface PublishedBuild {
  readonly build: string;
  readonly release: string;
}

/** What is needed to read a report as a failure. */
export interface ReportContext {
  readonly makeDigest: MakeReportDigest;
  /** Returns the build with this id, or the newest one of this release. Undefined if it is unknown. */
  readonly findBuild: (named: string) => Promise<PublishedBuild | undefined>;
  /** Whether a route has this pattern. Senders could invent others. */
  readonly isRoute: (pattern: string) => boolean;
}

/** The Sentry project of SENTRY_DSN. */
export interface Upstream {
  /** The configured DSN in the form of SDKs, without a secret. Browsers get it, and envelopes must have it. */
  readonly dsn: string;
  /** Replaces the sender's environment in transactions. */
  readonly environment: string;
  /** Queues a failure of a browser. */
  report(failure: Failure): void;
  /** Queues a transaction. @param header of its envelope */
  send(header: JsonRecord, transaction: JsonRecord): void;
}

/** Facts about the sender that the server knows itself. */
export interface ReportSender {
  /** The origin that the request was sent to. */
  readonly origin: string;
  readonly isOurs: (origin: string) => boolean;
  readonly userAgent: string | undefined;
  /** Names of the cookies. */
  readonly credentials: readonly string[];
  readonly visitor: Visitor;
  /** Also removes the values of the request's credentials, because its page may repeat them. */
  readonly scrubber: ReportScrubber;
}

/** Extra length for scrubbing (UTF-16 code units), because no pattern matches a secret that is cut in half. */
const SCRUB_MARGIN = 500;

/** Scrubs untrusted text and then cuts it. */
export function toScrubbed(text: string, scrubber: ReportScrubber, maxLength: number): string {
  return cutText(scrubber.text(text.slice(0, maxLength + SCRUB_MARGIN)), maxLength);
}
