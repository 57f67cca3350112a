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
