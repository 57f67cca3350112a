import { readOpenFileLimit } from '../../engine/connection/connection-limits.ts';
import type { ProductSettings } from '../../engine/product.ts';
import type { Environment } from '../../engine/settings.ts';
import type { FindingGroup } from '../finding.ts';
import { checkBuild } from './check-build.ts';
import { checkDataFolder, isInContainer, readMounts } from './check-data-folder.ts';
import { judgeConnections, judgeMemory, judgeNode, measureMemory } from './check-process.ts';
import { checkSettings, isForOthers } from './check-settings.ts';
import { checkStore } from './check-store.ts';
import { readEnvironment } from './read-settings.ts';

export interface EnvironmentOptions {
  readonly env: Environment;
  /** The folder of the build. */
  readonly dist: string;
  readonly product: ProductSettings<unknown> | Error;
  /** `/proc/self/mountinfo` of a test's own. */
  readonly mounts?: string | undefined;
}

/** Looks at what a start would find here. Nothing is started, made or sent. */
export async function checkEnvironment({
  env,
  dist,
  product,
  mounts = readMounts(),
}: EnvironmentOptions): Promise<FindingGroup[]> {
  const read = readEnvironment(env);
  const { dataDir, deskDatabaseUrl: databaseUrl } = read.config;
  const folder = {
    dataDir,
    mounts,
    isContainer: isInContainer(mounts, env),
    isServing: isForOthers(env, read.config),
    isShared: databaseUrl !== undefined,
    maxStoreBytes: read.config.deskRetention.maxBytes,
  };
  return [
    {
      heading: 'Program',
      findings: [
        judgeNode(process.versions.node),
        checkBuild({ dist, sources: toSources(env) }),
        judgeMemory(measureMemory()),
        judgeConnections({ openFiles: readOpenFileLimit(), perAddress: read.config.maxConnectionsPerAddress }),
      ],
    },
    { heading: 'Settings', findings: await checkSettings({ env, read, product, isContainer: folder.isContainer }) },
    { heading: 'Data', findings: [...checkDataFolder(folder), ...(await checkStore({ dataDir, databaseUrl }))] },
  ];
}

/** Said by `bin/run-command.mjs`, which knows the sources. */
function toSources({ SPILLWAY_SOURCES: text }: Environment): 'built' | 'changed' | undefined {
  return text === 'built' || text === 'changed' ? text : undefined;
}
