import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CONNECTION_BACKLOG } from '../limits.ts';
import { StartError } from '../start-error.ts';

export interface Where {
  readonly host: string;
  readonly port: number;
  /** The setting that the port comes from, for error messages; `PORT` by default. */
  readonly setting?: string;
}

/**
 * @returns the URL, with the port that the system assigned
 * @throws StartError that says in one sentence why the server could not listen
 */
export function listenOn(server: Server, where: Where): Promise<string> {
  const { host, port } = where;
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException) => reject(toListenError(error.code, where));
    server.once('error', refuse);
    server.listen({ port, host, backlog: CONNECTION_BACKLOG }, () => {
      server.off('error', refuse);
      const address = server.address() as AddressInfo; // it listens on a port, not on a pipe
      resolve(toHttpUrl(host, address.port));
    });
  });
}

export function toHttpUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** @param code the system's error code, such as `EADDRINUSE` */
export function toListenError(code: string | undefined, where: Where): StartError {
  return new StartError(describe(code, where));
}

function describe(code: string | undefined, { host, port, setting = 'PORT' }: Where): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is in use. Stop what listens there, or set ${setting} to another one. If your code or an existing app calls listen() on it, remove the call.`;
    case 'EACCES':
      return `This user is not allowed to listen on port ${port}. Set ${setting} to one above 1023.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `This machine has no address ${host}. Set HOST to 127.0.0.1, or to 0.0.0.0 for every network.`;
    default:
      return `The server could not listen on ${host}, port ${port} (${code}). Check HOST and ${setting}.`;
  }
}
