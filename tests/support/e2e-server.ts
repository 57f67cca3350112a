import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { atEnd } from './at-end.ts';
import buildOnce from './build-once.ts';

const MAIN = fileURLToPath(new URL('../../dist/server/main.js', import.meta.url));
const LISTENING = /Listening on (http:\/\/[^\s"]+)/;

/** A built server in a process of its own. */
export interface E2eServer {
  /** Origin, without a slash at the end. */
  readonly url: string;
  /** Everything it has logged so far. */
  readonly log: () => string;
  /** Its DATA_DIR, which goes with it. */
  readonly dataDir: string;
  stop(): Promise<void>;
}

/**
 * Starts the built server on a free port, in a process of its own.
 *
 * @param main another build's
 * @param execArgv options of Node's
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
      // A shared machine is late for other reasons than ours.
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

/** The one built server of this process, which ends with it. For tests that do not look at all of its desk or log. */
export function shareServer(): Promise<E2eServer> {
  shared ??= startServer();
  return shared;
}
