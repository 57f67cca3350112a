import type { Breadcrumb } from '../request/request-info.ts';
import type { ErrorRecord, Failure, RequestRecord, StackFrame } from './failure.ts';
import type { Scrubber } from './scrub.ts';

/**
 * Removes secrets from a failure, except from its ids, digest, kind, build, release, route and location. Those come from
 * the engine, and a cookie that happens to equal one of them must not redact it.
 */
export function scrubFailure(failure: Failure, scrubber: Scrubber): Failure {
  const { title, errors, location, request, componentStack, breadcrumbs, tags, extra } = failure;
  return {
    ...failure,
    title: scrubber.text(title),
    errors: errors.map((error) => scrubError(error, scrubber)),
    // If the source is not known, the detail is taken from the message.
    location: location && { ...location, detail: scrubber.text(location.detail) },
    request: request && scrubRequest(request, scrubber),
    componentStack: componentStack && scrubber.text(componentStack),
    tags: tags && scrubTexts(tags, scrubber),
    // The newest first, because the budget of a report may end before the oldest.
    breadcrumbs: breadcrumbs
      ?.toReversed()
      .map((breadcrumb) => scrubBreadcrumb(breadcrumb, scrubber))
      .reverse(),
    extra: extra && (scrubber.value(extra) as Record<string, unknown>),
  };
}

function scrubError(error: ErrorRecord, scrubber: Scrubber): ErrorRecord {
  const { class: name, message, code, frames, members } = error;
  return {
    ...error,
    class: scrubber.text(name),
    message: scrubber.text(message),
    code: code && scrubber.text(code),
    members: members?.map((member) => scrubber.text(member)),
    frames: frames.map((frame) => scrubFrame(frame, scrubber)),
  };
}

/** Anyone can write a stack. But a file of the build identifies the location, and a visitor's cookie must not redact it. */
function scrubFrame(frame: StackFrame, scrubber: Scrubber): StackFrame {
  const isOwn = /^(?:server|client)\/[^:]*$/.test(frame.file);
  return {
    ...frame,
    file: isOwn ? frame.file : scrubber.url(frame.file),
    function: scrubber.text(frame.function),
  };
}

/** The body contains only what was scrubbed when it was read. */
function scrubRequest({ url, headers, ...rest }: RequestRecord, scrubber: Scrubber): RequestRecord {
  return { ...rest, url: scrubber.url(url), headers: headers && scrubTexts(headers, scrubber) };
}

function scrubBreadcrumb(breadcrumb: Breadcrumb, scrubber: Scrubber): Breadcrumb {
  const { category, message, data } = breadcrumb;
  return {
    ...breadcrumb,
    category: scrubber.text(category),
    message: scrubber.text(message),
    data: data && (scrubber.value(data) as Breadcrumb['data']),
  };
}

function scrubTexts(texts: Readonly<Record<string, string>>, scrubber: Scrubber): Record<string, string> {
  return scrubber.value(texts) as Record<string, string>; // names and texts remain names and texts
}
