import { get } from 'node:http';
import { Second } from '../../shared/units.ts';

// The container's HEALTHCHECK (see the Dockerfile). Exits with 0 if the server with the same settings is alive, or else
// with 1 and a sentence. It loads few other modules, because it shares the container's memory. A draining server is
// alive, because replacing it would cut off responses.

/** Shorter than the container runtime's timeout, so that the sentence is printed (ms). */
const ANSWER_TIME = 2 * Second;

const { HOST, PORT } = process.env;
const port = Number(PORT?.trim() || 3000);

const request = get({ host: toReachable(HOST?.trim()), port, path: '/livez', timeout: ANSWER_TIME, agent: false });
request.on('response', (reply) => {
  reply.resume();
  end(reply.statusCode === 200, `it answered with ${reply.statusCode}`);
});
request.on('timeout', () => end(false, `it did not answer within ${ANSWER_TIME / Second} s`));
request.on('error', (error: NodeJS.ErrnoException) => end(false, `it cannot be reached (${error.code})`));

/** Replaces a wildcard address, which cannot be requested. */
function toReachable(host: string | undefined): string {
  if (host === '::') return '::1';
  return !host || host === '0.0.0.0' ? '127.0.0.1' : host;
}

function end(isWell: boolean, reason: string): void {
  if (!isWell) process.stderr.write(`The server on port ${port} is unhealthy: ${reason}.\n`);
  process.exit(isWell ? 0 : 1);
}
