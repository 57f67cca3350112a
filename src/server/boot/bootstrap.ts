import { listRemovedSettings, readConfig } from '../config.ts';
import { DESTINATION_FILES, listTokens } from '../destination-settings.ts';
import { createLogger } from '../engine/monitoring/logger.ts';
import { createMetrics } from '../engine/monitoring/metrics.ts';
import { requireDataFolder } from './data-folder.ts';
import { readManifest } from './read-manifest.ts';

/** The first things that a start reads, and that everything else uses. */
export type Bootstrap = Awaited<ReturnType<typeof bootstrap>>;

/**
 * @param dist the folder of the build
 * @throws with a sentence, if a setting is invalid, the build is missing, or the data folder cannot be used
 */
export async function bootstrap(dist: string) {
  const terminal = process.stdout.isTTY === true;
  const config = readConfig(process.env, { terminal });
  const manifest = readManifest(dist);
  const release = config.release ?? manifest.release ?? manifest.buildId;
  const { log, flush } = await createLogger({ level: config.logLevel, terminal });
  for (const sentence of listRemovedSettings(process.env)) log.warn(sentence);
  const metrics = createMetrics({ build: manifest.buildId, release, process: true });
  requireDataFolder(config.dataDir, DESTINATION_FILES);
  /** Who can read the metrics, and more. */
  const listed = listTokens(config, log);
  return { dist, config, manifest, release, log, flush, metrics, listed };
}
