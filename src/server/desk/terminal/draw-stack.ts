import { chooseOpen, groupFrames, toPackages } from '../../../shared/desk/frames.ts';
import type { ErrorShape, FrameShape, SpanShape } from '../../../shared/desk/shapes.ts';
import { toPlural } from '../../../shared/words.ts';
import { toCleanLines } from '../../terminal/clean-text.ts';
import { cut, flow, type Line, type Piece } from '../../terminal/paint.ts';

/**
 * Draws a chain of errors, outermost first: frames of the app with their source, groups of other frames in one line.
 */
export function drawErrors(errors: readonly ErrorShape[]): Line[] {
  return errors.flatMap((error, index) => [...drawWords(error, index > 0), ...drawFrames(error)]);
}

function drawWords({ class: name, message, code, members }: ErrorShape, hasCaused: boolean): Line[] {
  const [first = '', ...rest] = toCleanLines(message);
  return [
    flow(
      [
        ...(hasCaused ? [['warning', 'caused by '] as const] : []),
        ['bad', first === '' ? name : `${name}: ${first}`],
        ...(code === undefined ? [] : [['quiet', ` ${code}`] as const]),
      ],
      2,
    ),
    ...rest.map((line) => flow([`  ${line}`], 2)),
    ...(members.length > 0 ? [flow([['quiet', `  Errors in it: ${members.join(', ')}.`]], 2)] : []),
  ];
}

function drawFrames(error: ErrorShape): Line[] {
  const { frames } = error;
  if (frames.length === 0) return [flow([['quiet', '  No stack was reported.']])];
  const open = chooseOpen(error);
  const areForeign = frames.every(({ isOwn }) => !isOwn);
  return groupFrames(frames, open).flatMap(({ isFolded, frames: group }) => {
    if (!isFolded) return group.flatMap((frame) => drawOwn(frame, open.has(frame)));
    if (areForeign) return group.map(drawFrame);
    return [flow([['quiet', `  ${toPlural(group.length, 'frame')} of ${toPackages(group)}`]], 4)];
  });
}

function drawOwn(frame: FrameShape, isOpen: boolean): Line[] {
  const { source, line } = frame;
  if (!source || !isOpen) return [drawFrame(frame)];
  const size = String(source.start + source.lines.length - 1).length;
  return [
    drawFrame(frame),
    ...source.lines.map((spans, index) => {
      const number = source.start + index;
      const isPlace = number === line;
      const margin = `${isPlace ? '>' : ' '} ${String(number).padStart(size)} │ `;
      return cut(['    ', [isPlace ? 'bad' : 'quiet', margin], ...spans.map(toPiece)]);
    }),
  ];
}

function toPiece(span: SpanShape): Piece {
  return typeof span === 'string' ? span : [span[0], span[1]];
}

function drawFrame({ file, line, column, function: name, isAsync, isOwn }: FrameShape): Line {
  const place = line > 0 ? `${file}:${line}:${column}` : file || 'unknown place';
  const words = `  at ${isAsync ? 'async ' : ''}${name || 'anonymous'} `;
  return flow(isOwn ? [words, ['address', place]] : [['quiet', `${words}${place}`]], 5);
}
