import type { FrameLocation } from '../../../engine/errors/failure.ts';
import type { ResolvedFrame } from '../records.ts';

/**
 * Returns the line of a frame location in one occurrence. The location itself has no line, because lines
 * move from build to build.
 *
 * @param resolved the frames of each error, as resolved by source maps
 * @returns undefined if no source map has the line
 */
export function findFrameLine(
  site: Pick<FrameLocation, 'path' | 'function'> | undefined,
  resolved: readonly (readonly ResolvedFrame[])[] = [],
): number | undefined {
  const inFile = resolved.flat().filter(({ file, line }) => file === site?.path && line > 0);
  // The source map can have another function name than the frame location. Then any frame in the file is used.
  return (inFile.find((frame) => frame.function === site?.function) ?? inFile[0])?.line;
}
