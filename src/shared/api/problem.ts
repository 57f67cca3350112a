/** The media type of errors under `/api` (RFC 9457). */
export const PROBLEM_TYPE = 'application/problem+json';

/** The body of such an error. A step that refuses a post in the background answers with one too. */
export interface Problem<Status extends number = number> {
  readonly type: 'about:blank';
  readonly title: string;
  readonly status: Status;
  readonly detail?: string;
  /** The URL that shows the failure. */
  readonly instance?: string;
  /** Names the kind of failure. */
  readonly digest?: string;
  /** Messages by field. */
  readonly errors?: Readonly<Record<string, string>>;
}
