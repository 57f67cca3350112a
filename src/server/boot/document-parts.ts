import { createEarlyScript } from '../engine/pages/render/early-script.ts';
import type { TracedProject } from '../engine/request/trace-headers.ts';
import type { Bootstrap } from './bootstrap.ts';

/** Returns the parts of documents that let browsers report. */
export function toDocumentParts({ config, manifest, release }: Bootstrap) {
  const { tunnelPath: tunnel, sentryDsn: dsn, sentryEnvironment: environment } = config;
  return {
    earlyScript: createEarlyScript({ tunnel, dsn: dsn?.text, build: manifest.buildId, release, environment }),
    /** The path for reports that browsers send automatically. */
    reportPath: `${tunnel}/browser`,
    traced: { release, environment, publicKey: dsn?.publicKey } satisfies TracedProject,
  };
}
