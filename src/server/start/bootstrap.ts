import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AssetManifest } from '../../shared/wire/manifest.ts';
import { listRemovedSettings, readConfig } from '../config.ts';
import { DESTINATION_FILES, listTokens } from '../destination-settings.ts';
import { createMetrics } from '../front/metrics.ts';
import { ConfigError } from '../settings.ts';
import { requireDataFolder } from './data-folder.ts';
import { createLogger } from './logger.ts';

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

/** @throws ConfigError if there is no build */
export function readManifest(dist: string): AssetManifest {
  try {
    // Written by the same build.
    return JSON.parse(readFileSync(join(dist, 'manifest.json'), 'utf8')) as AssetManifest;
  } catch {
    throw new ConfigError([
      'There is no usable build (dist/manifest.json is missing or broken). Run "npm run build" first.',
    ]);
  }
}
