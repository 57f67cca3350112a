import { readOpenFileLimit } from '../../engine/connection/connection-limits.ts';
import type { ProductSettings } from '../../engine/product.ts';
import type { Environment } from '../../engine/settings.ts';
import { DESTINATION_CHECKS } from '../destination-checks.ts';
import { type FindingGroup, judge, toFinding } from '../finding.ts';
import { checkBuild } from './check-build.ts';
import { checkDataFolder, isInContainer, readMounts } from './check-data-folder.ts';
import { measureMemory, PROCESS_CHECKS } from './check-process.ts';
import { checkSettings, isForOthers } from './check-settings.ts';
import { readEnvironment } from './read-settings.ts';

export interface EnvironmentOptions {
  readonly env: Environment;
  /** The folder of the build. */
  readonly dist: string;
  readonly product: ProductSettings<unknown> | Error;
  /** A `/proc/self/mountinfo` for tests. */
  readonly mounts?: string | undefined;
}

/** Checks what a start would find here. Starts, creates and sends nothing. */
export async function checkEnvironment(options: EnvironmentOptions): Promise<FindingGroup[]> {
  const { env, dist, product, mounts = readMounts() } = options;
  const read = readEnvironment(env);
  const { dataDir, maxConnectionsPerAddress: perAddress } = read.config;
  const isContainer = isInContainer(mounts, env);
  const folder = {
    dataDir,
    mounts,
    isContainer,
    isServing: isForOthers(env, read.config),
    stored: DESTINATION_CHECKS.describeFolder(read.config),
  };
  return [
    {
      heading: 'Program',
      findings: [
        toFinding('Build', checkBuild({ dist, sources: env.SPILLWAY_SOURCES })),
        ...judge(PROCESS_CHECKS, {
          version: process.versions.node,
          memory: measureMemory(),
          openFiles: readOpenFileLimit(),
          perAddress,
        }),
      ],
    },
    { heading: 'Settings', findings: await checkSettings({ env, read, product, isContainer }) },
    { heading: 'Data', findings: [...checkDataFolder(folder), ...(await DESTINATION_CHECKS.checkStore(read.config))] },
  ];
}
