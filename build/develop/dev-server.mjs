import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import net from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getSystemErrorName } from 'node:util';

/** In development, no proxy has to notice that a server stops, and there are no long responses to wait for. */
const drain = { DRAIN_LAG: '0', DRAIN_DEADLINE: '1' };
/** When to kill a server that has not exited (ms). Its drain takes one second. */
const drainMs = 3000;
/** How long to wait for the last output of a server that did not start (ms). */
const lastWordsMs = 1000;

/**
 * Starts a server of `npm run dev` that waits for its product.
 *
 * @param {string} root
 * @param {string} folder of the build
 * @param {(message: any) => void} onMessage
 */
export function startServer(root, folder, onMessage) {
  const child = spawn(process.execPath, ['--enable-source-maps', join(root, folder, 'server/develop.js')], {
    cwd: root,
    stdio: ['inherit', 'inherit', 'pipe', 'ipc'],
    // Unchanged code is not compiled again.
    env: {
      NODE_COMPILE_CACHE: join(root, folder, 'compile-cache'),
      ...process.env,
      SENTRY_ENVIRONMENT: process.env.SENTRY_ENVIRONMENT?.trim() || 'development',
      ...drain,
      SPILLWAY_DEV: '1',
    },
  });
  const exited = once(child, 'exit');
  const closed = once(child, 'close');
  let said = '';
  child.on('message', onMessage);
  child.stderr.on('data', (text) => {
    process.stderr.write(text);
    said = `${said}${text}`.slice(-4000);
  });

  const isRunning = () => child.exitCode === null && child.signalCode === null;

  return {
    exited,
    isRunning,
    /** Whether `npm run dev` ends it. */
    isEnding: () => child.killed,
    isAlive: () => isRunning() && !child.killed,

    /** A server that has just exited cannot receive it. Without a callback, Node would emit an error for that. */
    send(message, handle) {
      child.send(message, handle, { keepOpen: true }, () => {});
    },

    /** Waits for a message. @returns undefined if the server exits before */
    async ask(type) {
      if (!isRunning()) return undefined;
      for await (const [message] of on(child, 'message', { close: ['exit'] }))
        if (message?.type === type) return message;
    },

    /** Returns what it has written to standard error. */
    async readLastWords() {
      await Promise.race([closed, sleep(lastWordsMs)]);
      return said.trim();
    },

    async end() {
      if (!isRunning()) return;
      const kill = setTimeout(() => child.kill('SIGKILL'), drainMs);
      child.kill('SIGTERM');
      await exited;
      clearTimeout(kill);
    },
  };
}

/**
 * Passes a bound handle to the server, which listens on it. A server in this process would accept connections itself.
 * Node's cluster module shares its sockets with the same function.
 *
 * @param {ReturnType<typeof startServer>} server
 * @param {{ host: string, port: number }} where
 * @param {{ key: string, handle: any } | undefined} socket that of the last server
 * @returns the socket; that of the last server if the port is not free
 */
export async function giveSocket(server, { host, port }, socket) {
  const key = `${host}:${port}`;
  let given = socket;
  if (given?.key !== key) {
    given?.handle.close();
    const address = host === 'localhost' ? '127.0.0.1' : host;
    const code = await tryToListen(address, port);
    const handle = code ?? /** @type {any} */ (net)._createServerHandle(address, port, net.isIP(address) || 4);
    if (typeof handle !== 'object') {
      server.send({ type: 'refused', code: code ?? getSystemErrorName(handle) });
      return given;
    }
    given = { key, handle };
  }
  server.send({ type: 'socket' }, given.handle);
  return given;
}

/** Checks that the port is free. A handle would report this only when it listens, too late in the other process. */
function tryToListen(host, port) {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', (error) => resolve(/** @type {NodeJS.ErrnoException} */ (error).code));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}
