import type { ErrorRecord } from '../../../server/errors/failure.ts';
import { isProductCode } from '../../../shared/whose-code.mjs';
import type { ErrorShape, FrameShape } from '../../shared/shapes.ts';
import { defined } from '../defined.ts';
import { fillLink } from '../links.ts';
import type { ResolvedFrame, StoredFailure } from '../store/records.ts';

/** @param sourceLink the setting `SOURCE_LINK` */
export function presentErrors(failure: StoredFailure, sourceLink: string | undefined): ErrorShape[] {
  return failure.errors.map((error, index) => {
    const frames = listFrames(failure, index).map((frame) => presentFrame(frame, failure, sourceLink));
    return { members: [], ...error, frames };
  });
}

/** Returns the errors as a terminal would show them, with resolved frames. */
export function toStackText(failure: StoredFailure): string {
  return failure.errors
    .map((error, index) => {
      const frames = listFrames(failure, index).map(toFrameText);
      return [`${index > 0 ? 'caused by ' : ''}${toWords(error)}`, ...frames].join('\n');
    })
    .join('\n');
}

/** Resolved by source maps, as far as those were read. */
function listFrames({ errors, resolved }: StoredFailure, index: number): ResolvedFrame[] {
  const known = resolved?.[index] ?? [];
  const rest = errors[index]?.frames.slice(known.length) ?? [];
  return [...known, ...rest.map((frame) => ({ ...frame, own: false }))];
}

function toWords({ class: name, message }: ErrorRecord): string {
  return message === '' ? name : `${name}: ${message}`;
}

function toFrameText({ file, line, column, function: name, async: isAsync }: ResolvedFrame): string {
  const place = line > 0 ? `${file}:${line}:${column}` : file || '<anonymous>';
  return `    at ${isAsync ? 'async ' : ''}${name ? `${name} (${place})` : place}`;
}

function presentFrame(frame: ResolvedFrame, failure: StoredFailure, sourceLink: string | undefined): FrameShape {
  const { file, line, column, own, context } = frame;
  const { release, build } = failure;
  return defined({
    file,
    line,
    column,
    function: frame.function,
    isOwn: own,
    isEngine: !isProductCode(file),
    isAsync: frame.async === true,
    link:
      own && sourceLink ? fillLink(sourceLink, { file, line, column, release, build }, { isPath: true }) : undefined,
    source: context && { start: context.start, lines: dedent(context.lines) },
  });
}

/** Removes the common indentation, because narrow screens have no room for it. */
function dedent(lines: readonly string[]): string[] {
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length);
  const indent = indents.length > 0 ? Math.min(...indents) : 0;
  return lines.map((line) => line.slice(indent));
}
