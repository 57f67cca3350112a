import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AssetManifest } from '../../shared/engine/wire/manifest.ts';
import { ConfigError } from '../engine/settings.ts';

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
