import { HttpError } from '../../../engine/errors/http-error.ts';

/** What was sent is no report that is taken here. Its words go to the sender, so they hold nothing that was sent. */
export class ReportError extends HttpError {
  constructor(status: 400 | 403 | 413 | 415, message: string, headers?: Readonly<Record<string, string>>) {
    super(status, message, headers);
    this.name = 'ReportError';
  }
}
