import type { Site } from '../../../engine/errors/failure.ts';
import type { ResolvedFrame } from '../records.ts';

/**
 * The line of a site in one occurrence: a site has none of its own, because lines move from build to build.
 *
 * @param resolved for each error of the occurrence, its frames by the source maps
 * @returns undefined where no map told it
 */
export function findFrameLine(
  site: Pick<Site, 'path' | 'function'> | undefined,
  resolved: readonly (readonly ResolvedFrame[])[] = [],
): number | undefined {
  const inFile = resolved.flat().filter(({ file, line }) => file === site?.path && line > 0);
  // Names differ where the map knows another one than the table of sites: then the file has to do.
  return (inFile.find((frame) => frame.function === site?.function) ?? inFile[0])?.line;
}
