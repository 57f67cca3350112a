import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { atEnd } from './at-end.ts';
import buildOnce from './build-once.ts';
import { createTestSettings } from './product/test-settings.ts';
import { startServerProcess } from './server-process.ts';

const MAIN = fileURLToPath(new URL('../../dist/server/main.js', import.meta.url));

/** The built server in a separate process. */
export interface E2eServer {
  /** Origin, without a trailing slash. */
  readonly url: string;
  /** The log so far. */
  readonly log: () => string;
  /** Its DATA_DIR, which is removed when the server stops. */
  readonly dataDir: string;
  /** Its other settings. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/**
 * Starts the built server on a free port, in a separate process.
 *
 * @param given settings, besides those of `createTestSettings()`
 * @param main the entry of another build
 * @param execArgv options for Node
 */
export async function startServer(
  given: Readonly<Record<string, string>> = {},
  main = MAIN,
  execArgv: readonly string[] = [],
): Promise<E2eServer> {
  await buildOnce();
  const dataDir = mkdtempSync(join(tmpdir(), 'spillway-data-'));
  const remove = () => rmSync(dataDir, { recursive: true, force: true });
  const env = { ...(await createTestSettings()), ...given };
  const server = await startServerProcess([...execArgv, main], { DRAIN_DEADLINE: '1', DATA_DIR: dataDir, ...env });
  atEnd(remove);
  return { ...server, dataDir, env, stop: () => server.stop().then(remove) };
}

let shared: Promise<E2eServer> | undefined;

/** Returns the server shared by all tests of this process. For tests that do not check its whole store or log. */
export function shareServer(): Promise<E2eServer> {
  shared ??= startServer();
  return shared;
}
