import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { Scrubber } from '../../engine/errors/scrub.ts';
import type { Origins } from '../../engine/protection/origins.ts';
import { requestInfo } from '../../engine/request/request-info.ts';
import { toRequestScrubber } from '../tunnel/open-tunnel.ts';
import type { ToVisitor } from '../tunnel/visitors.ts';
import type { KeepFeedback } from './feedback.ts';
import { ingestFeedback } from './ingest-feedback.ts';

export interface OpenFeedbackOptions {
  readonly feedback: KeepFeedback;
  readonly origins: Origins;
  readonly scrubber: Scrubber;
  readonly toVisitor: ToVisitor;
  readonly log: Logger;
}

/** Creates the handler of the feedback form. */
export function openFeedback({ feedback, origins, scrubber, toVisitor, log }: OpenFeedbackOptions): RequestHandler {
  return ingestFeedback({
    feedback,
    origins,
    scrubberOf: toRequestScrubber(scrubber),
    toVisitor(req) {
      const info = requestInfo(req);
      return toVisitor(info.address, info.readVisitorId());
    },
    log,
  });
}
