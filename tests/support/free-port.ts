import { createServer } from 'node:net';

// Below the ephemeral port ranges (32,768 and up on Linux, 49,152 elsewhere), so that an outgoing connection of
// another test cannot take the port before it is used.
const FIRST = 20_000;
const PORTS = 12_000;
// Processes that ask simultaneously start far apart.
let next = (process.pid * 7_919) % PORTS;

/** Finds a free port for a program that must know its port before it listens. */
export async function findFreePort(host = '127.0.0.1'): Promise<number> {
  for (let tries = 0; tries < PORTS; tries += 1) {
    const port = FIRST + next;
    next = (next + 1) % PORTS;
    if (await canListen(port, host)) return port;
  }
  throw new Error(`No port from ${FIRST} to ${FIRST + PORTS - 1} is free on ${host}.`);
}

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false);
      else reject(error);
    });
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
