import { PROBLEM_TYPE } from '../../shared/api/problem.ts';
import { ACTION_ACCEPT, ACTION_FIELD, MULTIPART } from '../../shared/wire/protocol.ts';

interface FormPost {
  readonly request: Request;
  /** Undefined for JSON and text, which have no form. The server refuses them. */
  readonly form: FormData | undefined;
  /** Whether `useUploadProgress()` tells how much of its files has been sent. */
  readonly showsProgress: boolean;
}

/** Posts what a form submits, as the browser would. */
export async function postForm(url: string, { request, form, showsProgress }: FormPost): Promise<Response> {
  const { signal } = request;
  const headers = { Accept: `${ACTION_ACCEPT}, ${PROBLEM_TYPE}` };
  if (form && showsProgress && toFileBytes(request, form) > 0) {
    const send = await import('./send-files.ts').catch(() => undefined);
    if (send) return send.sendFiles(url, { headers, body: nameFirst(form), signal });
  }
  // The browser reads the files of a form while it sends them.
  const body = !form ? await request.blob() : sendsMultipart(request) ? nameFirst(form) : toUrlEncoded(form);
  return fetch(url, { method: 'POST', headers, body, signal });
}

/** The server needs the action before the files, for its limit and guards. That of a button comes after them. */
function nameFirst(form: FormData): FormData {
  const named = new FormData();
  for (const action of form.getAll(ACTION_FIELD)) named.append(ACTION_FIELD, action);
  for (const [name, value] of form) if (name !== ACTION_FIELD) named.append(name, value);
  return named;
}

export function sendsMultipart({ headers }: Request): boolean {
  return headers.get('Content-Type')?.startsWith(MULTIPART) ?? false;
}

/** The size of the files that a request sends: none without multipart. */
export function toFileBytes(request: Request, form: FormData | undefined): number {
  if (!form || !sendsMultipart(request)) return 0;
  return [...form.values()].reduce((sum, value) => sum + (value instanceof File ? value.size : 0), 0);
}

/** Encodes a form as browsers do: a file by its name, and line ends as CRLF. */
export function toUrlEncoded(form: FormData): URLSearchParams {
  const toText = (value: string) => value.replace(/\r\n?|\n/g, '\r\n');
  const fields = new URLSearchParams();
  for (const [name, value] of form) fields.append(toText(name), toText(typeof value === 'string' ? value : value.name));
  return fields;
}
