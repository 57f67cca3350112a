import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd } from '../../support/at-end.ts';

/** How long a proxy can take until it listens (ms). */
const PATIENCE = 15_000;

export interface ProxyProcess {
  /** Stops the proxy and removes its folder. */
  stop(): Promise<void>;
}

/** Creates a folder for the proxy's configuration and files, which an unprivileged worker can enter. */
export function createProxyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-proxy-'));
  chmodSync(folder, 0o755);
  return folder;
}

/**
 * Starts a proxy, and resolves when it accepts connections on all of its ports. It ends at the latest with this process.
 *
 * @throws Error with its output if it exits before that, or takes too long
 */
export async function startProxyProcess(
  [program, ...args]: readonly [string, ...string[]],
  { folder, ports }: { readonly folder: string; readonly ports: readonly number[] },
): Promise<ProxyProcess> {
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Caddy writes its files there.
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  const ended = once(child, 'exit');
  atEnd(() => child.kill('SIGTERM'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      output += bytes.toString();
    });
  }
  async function stop(): Promise<void> {
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
  const end = performance.now() + PATIENCE;
  for (const port of ports) {
    while (!(await isListening(port))) {
      if (child.exitCode !== null || performance.now() > end) {
        await stop();
        throw new Error(`${program} does not listen on ${port}:\n${output}`);
      }
      await sleep(20);
    }
  }
  return { stop };
}

function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const listening = once(socket, 'connect').then(
    () => true,
    () => false,
  );
  return listening.finally(() => socket.destroy());
}
