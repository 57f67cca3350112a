import { subscribe } from 'node:diagnostics_channel';
import { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WiringError } from '../errors/wiring-error.ts';
import { CONNECTION_BACKLOG } from '../limits.ts';
import { StartError } from '../start-error.ts';

/** Says in one sentence why the server could not listen. */
export class ListenError extends StartError {}

export interface Where {
  readonly host: string;
  readonly port: number;
  /** The setting that the port comes from, for error messages; `PORT` by default. */
  readonly setting?: string;
}

/** Servers that listenOn() starts. */
const own = new WeakSet<object>();

/**
 * Fails if other code of this process listens on the address of the site, now or later.
 *
 * @param readAddress reads the address
 * @param findCaller finds the file that calls listen() in the stack of an error
 */
export function refuseOthers(readAddress: () => Where, findCaller: (error: Error) => string | undefined): void {
  subscribe('tracing:net.server.listen:asyncStart', (message) => {
    const { server, options } = message as Listening;
    if (own.has(server) || !options.port) return;
    const { host, port } = readAddress();
    if (Number(options.port) !== port || ![undefined, '0.0.0.0', '::', host].includes(options.host)) return;
    server.once('error', () => undefined); // the error below says more
    const trace = new Error();
    Error.captureStackTrace(trace, Server.prototype.listen);
    const caller = findCaller(trace) ?? 'The product or the existing app';
    throw new WiringError(
      `${caller} calls listen() with port ${port}. Spillway listens on it itself, so remove the call.`,
    );
  });
}

/** What Node publishes when a server is about to listen. */
interface Listening {
  readonly server: Server;
  readonly options: { readonly port?: number | string; readonly host?: string };
}

/**
 * @returns the URL, with the port that the system assigned
 * @throws ListenError
 */
export function listenOn(server: Server, where: Where): Promise<string> {
  const { host, port } = where;
  own.add(server);
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(toListenError(error.code, where)));
    server.listen({ port, host, backlog: CONNECTION_BACKLOG }, () => {
      const address = server.address() as AddressInfo; // it listens on a port, not on a pipe
      resolve(toHttpUrl(host, address.port));
    });
  });
}

export function toHttpUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** @param code the system's error code, such as `EADDRINUSE` */
export function toListenError(code: string | undefined, where: Where): ListenError {
  return new ListenError(describe(code, where));
}

function describe(code: string | undefined, { host, port, setting = 'PORT' }: Where): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is in use. Stop what listens there, or set ${setting} to another one.`;
    case 'EACCES':
      return `This user is not allowed to listen on port ${port}. Set ${setting} to one above 1023.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `This machine has no address ${host}. Set HOST to 127.0.0.1, or to 0.0.0.0 for every network.`;
    default:
      return `The server could not listen on ${host}, port ${port} (${code}). Check HOST and ${setting}.`;
  }
}
