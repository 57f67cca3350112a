import { createEarlyScript } from '../engine/pages/early-script.ts';
import type { TracedProject } from '../engine/request/trace-headers.ts';
import type { Ground } from './open-ground.ts';

/** What documents carry, the site's and the desk's, for what browsers report. */
export interface DocumentParts {
  readonly earlyScript: string;
  /** Where browsers send what they report by themselves. */
  readonly reportPath: string;
  readonly traced: TracedProject;
}

export function toDocumentParts({ config, manifest, release }: Ground): DocumentParts {
  const { tunnelPath: tunnel, sentryDsn: dsn, sentryEnvironment: environment } = config;
  return {
    earlyScript: createEarlyScript({ tunnel, dsn: dsn?.text, build: manifest.buildId, release, environment }),
    reportPath: `${tunnel}/browser`,
    traced: { release, environment, publicKey: dsn?.publicKey },
  };
}
