import type { FrameLocation } from '../../../engine/errors/failure.ts';
import type { StoredFailure } from '../records.ts';

/**
 * Returns the line of a frame location in one occurrence. The location itself has no line, because lines
 * move from build to build.
 *
 * @param failure with the frames of each error and of its components, as resolved by source maps
 * @returns undefined if no source map has the line
 */
export function findFrameLine(
  site: Pick<FrameLocation, 'path' | 'function'> | undefined,
  { resolved = [], components = [] }: Pick<StoredFailure, 'resolved' | 'components'>,
): number | undefined {
  const inFile = [...resolved.flat(), ...components].filter(({ file, line }) => file === site?.path && line > 0);
  // The source map can have another function name than the frame location. Then any frame in the file is used.
  return (inFile.find((frame) => frame.function === site?.function) ?? inFile[0])?.line;
}
