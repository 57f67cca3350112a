import { HttpError } from '../../engine/errors/http-error.ts';

/** A report was rejected. The message is sent back, so it must not repeat any content of the report. */
export class ReportError extends HttpError {
  constructor(status: 400 | 403 | 413 | 415, message: string, headers?: Readonly<Record<string, string>>) {
    super(status, message, headers);
    this.name = 'ReportError';
  }
}
