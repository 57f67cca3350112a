import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

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
 * Starts a proxy, and resolves when it accepts connections on all of its ports.
 *
 * @throws Error with its output if it exits before that
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
  // Stops the proxy if a test process fails.
  const leave = () => void child.kill('SIGTERM');
  process.once('exit', leave);
  child.once('exit', () => process.off('exit', leave));
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
      if (hasEnded(child)) throw new Error(`${program} exited before it listened:\n${output}`);
      if (performance.now() > end) {
        await stop();
        throw new Error(`${program} does not listen on ${port}:\n${output}`);
      }
      await sleep(20);
    }
  }
  return { stop };
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const say = (listens: boolean) => {
      socket.destroy();
      resolve(listens);
    };
    socket.once('connect', () => say(true));
    socket.once('error', () => say(false));
  });
}
