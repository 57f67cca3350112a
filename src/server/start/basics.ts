import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { AssetManifest } from '../../shared/wire/manifest.ts';
import { type Config, readConfig, requireFreeTunnelPath } from '../config.ts';
import { toHttpUrl } from '../connection/listen-on.ts';
import { createCheckToken } from '../front/check-token.ts';
import { createMetrics, type Metrics } from '../front/metrics.ts';
import { createTokens, keepToken, listTokens } from '../front/tokens.ts';
import { createEarlyScript } from '../pages/render/early-script.ts';
import { listRemovedSettings } from '../removed-settings.ts';
import { createLogger } from '../request/logger.ts';
import { createOrigins, type Origins } from '../request/origins.ts';
import { createOwnsPath } from '../request/paths.ts';
import { createProxyTrust } from '../request/proxy-trust.ts';
import { openUploads } from '../request/upload-folder.ts';
import { ConfigError } from '../settings.ts';
import type { Build, PageReporting, Tracker, TrackerHost } from '../tracker/tracker.ts';
import { requireDataFolder } from './data-folder.ts';

/** What every part of a start uses. */
export interface Basics {
  readonly config: Config;
  readonly build: Build;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/**
 * Reads settings and build, and opens the log and the data folder.
 *
 * @throws StartError if a setting is invalid, the build is missing, or the data folder cannot be used
 */
export async function readBasics(dist: string, tracker: Tracker | undefined) {
  const terminal = process.stdout.isTTY === true;
  const config = readConfig(process.env, { terminal });
  requireSettings(config, tracker);
  const configured = tracker?.configure(process.env, config);
  const manifest = readManifest(dist);
  const release = config.release ?? manifest.release ?? manifest.buildId;
  const metrics = createMetrics({ build: manifest.buildId, release, process: true });
  const { log, flush } = await createLogger({ level: config.logLevel, terminal, count: metrics.count });
  for (const sentence of listRemovedSettings(process.env)) log.warn(sentence);
  requireDataFolder(config.dataDir, tracker?.files);
  openUploads(config.dataDir);
  const { viewerTokens, operatorTokens, host, port, deskPort } = config;
  const kept = tracker && operatorTokens.length === 0 ? keepToken(config.dataDir, log) : undefined;
  const tokens = createTokens(listTokens({ viewerTokens, operatorTokens: kept ? [kept] : operatorTokens }));
  const origins = createOrigins(config.publicOrigins, toHttpUrl(host, port));
  const access: TrackerHost['access'] = {
    tokens,
    isTokenNew: kept?.isNew === true,
    checkToken: createCheckToken(tokens),
    origins: deskPort === undefined ? origins : toSecondOrigins(host, deskPort),
    trust: createProxyTrust(config.trustProxy),
  };
  const basics: Basics = { config, build: { dist, manifest, release }, log, metrics };
  return {
    basics,
    /** Who can read the metrics, and sign in to the tracker. */
    access,
    /** The origins of PORT. */
    origins,
    page: toPageReporting(config, manifest.buildId, release),
    /** The tracker with its settings. */
    configured,
    /** Writes out buffered log lines. */
    flush,
  };
}

/**
 * Accepts any host on DESK_PORT, because an internal network can have any name or address for it. A form must still come
 * from the host that it is posted to.
 */
export function toSecondOrigins(host: string, port: number): Origins {
  return createOrigins([], toHttpUrl(host, port));
}

/** Checks settings together that are valid by themselves. @throws ConfigError */
export function requireSettings(config: Config, tracker: Tracker | undefined): void {
  requireFreeTunnelPath(config, createOwnsPath(tracker));
  listTokens(config);
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

function toPageReporting(config: Config, build: string, release: string): PageReporting {
  const { tunnelPath: tunnel, sentryDsn: dsn, sentryEnvironment: environment } = config;
  return {
    earlyScript: createEarlyScript({ tunnel, dsn: dsn?.text, build, release, environment }),
    reportPath: `${tunnel}/browser`,
  };
}
