import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { atEnd } from './at-end.ts';
import buildOnce from './build-once.ts';

const MAIN = fileURLToPath(new URL('../../dist/server/main.js', import.meta.url));
const LISTENING = /Listening on (http:\/\/[^\s"]+)/;

/** The built server in a separate process. */
export interface E2eServer {
  /** Origin, without a trailing slash. */
  readonly url: string;
  /** The log so far. */
  readonly log: () => string;
  /** Its DATA_DIR, which is removed when the server stops. */
  readonly dataDir: string;
  stop(): Promise<void>;
}

/**
 * Starts the built server on a free port, in a separate process.
 *
 * @param main the entry of another build
 * @param execArgv options for Node
 */
export async function startServer(
  env: Record<string, string> = {},
  main = MAIN,
  execArgv: readonly string[] = [],
): Promise<E2eServer> {
  await buildOnce();
  const dataDir = mkdtempSync(join(tmpdir(), 'spillway-data-'));
  const child = spawn(process.execPath, [...execArgv, main], {
    env: {
      ...process.env,
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: '0',
      DRAIN_LAG: '0',
      DRAIN_DEADLINE: '1',
      // Other load on a shared machine would trigger overload protection.
      OVERLOAD_DELAY: '0',
      DATA_DIR: dataDir,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  atEnd(() => {
    if (child.exitCode === null && child.kill('SIGKILL')) rmSync(dataDir, { recursive: true, force: true });
  });
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    function read(chunk: Buffer): void {
      output += chunk.toString();
      const found = LISTENING.exec(output);
      if (found?.[1]) resolve(found[1]);
    }
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`The server ended with ${code} before it listened:\n${output}`)));
  });
  return {
    url,
    log: () => output,
    dataDir,
    async stop() {
      child.kill('SIGTERM');
      await ended;
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

let shared: Promise<E2eServer> | undefined;

/** Returns the server shared by all tests of this process. For tests that do not check its whole store or log. */
export function shareServer(): Promise<E2eServer> {
  shared ??= startServer();
  return shared;
}
