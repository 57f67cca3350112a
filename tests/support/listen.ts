import type { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { onTestFinished } from 'vitest';

/** Lets a server listen on a free port of this machine. @returns the port */
export async function listen(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** Lets an HTTP server listen until the test ends. @returns the port */
export function listenInTest(server: HttpServer): Promise<number> {
  onTestFinished(() => void server.close().closeAllConnections());
  return listen(server);
}
