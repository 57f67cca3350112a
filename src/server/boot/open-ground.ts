import type { AssetManifest } from '../../shared/engine/wire/manifest.ts';
import { type Config, readConfig } from '../config.ts';
import { type ListedTokens, listTokens } from '../desk/access/list-tokens.ts';
import { requireDataFolder } from '../desk/data-folder.ts';
import { createLogger, type ServerLog } from '../engine/monitoring/logger.ts';
import { createMetrics, type Metrics } from '../engine/monitoring/metrics.ts';
import { readManifest } from './read-manifest.ts';

/** What a start has read, and all that it opens stands on. */
export interface Ground extends ServerLog, ListedTokens {
  /** The folder of the build. */
  readonly dist: string;
  readonly config: Config;
  readonly manifest: AssetManifest;
  readonly release: string;
  readonly metrics: Metrics;
}

/** @throws with a sentence, where a setting is wrong, there is no build, or the data folder cannot be used */
export async function openGround(dist: string): Promise<Ground> {
  const terminal = process.stdout.isTTY === true;
  const config = readConfig(process.env, { terminal });
  const manifest = readManifest(dist);
  const release = config.release ?? manifest.release ?? manifest.buildId;
  const { log, flush } = await createLogger({ level: config.logLevel, terminal });
  const metrics = createMetrics({ build: manifest.buildId, release, process: true });
  requireDataFolder(config.dataDir);
  return { dist, config, manifest, release, log, flush, metrics, ...listTokens(config, log) };
}
