import net from 'node:net';
import { getSystemErrorName } from 'node:util';

/**
 * Sends a message to a server of `npm run dev`. A server that has just exited cannot receive it. Without a callback, Node
 * would emit an error for that, which would end `npm run dev`.
 *
 * @param {import('node:child_process').ChildProcess} server
 * @param {import('node:child_process').Serializable} message
 * @param {import('node:child_process').SendHandle} [handle]
 */
export function sendToServer(server, message, handle) {
  server.send(message, handle, { keepOpen: true }, () => {});
}

/**
 * Passes a bound handle to the server, which listens on it. A server in this process would accept connections itself.
 * Node's cluster module shares its sockets with the same function.
 *
 * @param {import('node:child_process').ChildProcess} server
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
      sendToServer(server, { type: 'refused', code: code ?? getSystemErrorName(handle) });
      return given;
    }
    given = { key, handle };
  }
  sendToServer(server, { type: 'socket' }, given.handle);
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
