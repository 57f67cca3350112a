import { spawn } from 'node:child_process';
import { atEnd } from './at-end.ts';

const LISTENING = /Listening on (http:\/\/[^\s"]+)/;

export interface ServerProcess {
  /** Origin, without a trailing slash. */
  readonly url: string;
  /** The log so far. */
  readonly log: () => string;
  /** Stops it with SIGTERM, and resolves with its exit code. */
  stop(): Promise<number | null>;
  /** Resolves with its exit code, or null if a signal ended it. */
  readonly ended: Promise<number | null>;
}

/**
 * Starts a built server on a free port, and resolves when it listens. It ends at the latest with this process.
 *
 * @param args the entry, after options for Node
 * @throws with its output if it ends before that
 */
export async function startServerProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd?: string,
): Promise<ServerProcess> {
  const child = spawn(process.execPath, args, {
    cwd,
    env: {
      ...process.env,
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: '0',
      DRAIN_LAG: '0',
      // Ends it with this process, also if Vitest kills this process before `atEnd` has ended it.
      npm_lifecycle_event: 'test',
      // Other load on a shared machine would trigger overload protection.
      OVERLOAD_DELAY: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // Not 'exit', after which the last output can still arrive.
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  atEnd(() => child.kill('SIGTERM'));
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        const [, found] = LISTENING.exec(output) ?? [];
        if (found) resolve(found);
      });
    }
    child.once('error', reject);
    void ended.then((code) => reject(new Error(`The app ended with ${code} before it listened:\n${output}`)));
  });
  function stop(): Promise<number | null> {
    child.kill('SIGTERM');
    return ended;
  }
  return { url, log: () => output, stop, ended };
}
