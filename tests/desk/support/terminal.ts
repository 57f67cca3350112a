import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';
import { openPostgres } from '../../../src/desk/server/store/postgres.ts';
import { migrate } from '../../../src/desk/server/store/schema.ts';
import { runTerminal } from '../../../src/desk/server/terminal/run-terminal.ts';
import { createFolder } from '../../support/folder.ts';
import { createPostgresDatabase } from '../../support/postgres.ts';

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export type Env = Readonly<Record<string, string>>;

/** Settings of a desk in a new folder. */
export const sqliteEnv = async (more: Env = {}): Promise<Env> => ({ DATA_DIR: createFolder(onTestFinished), ...more });
/** The same, with an empty desk in PostgreSQL. */
export async function postgresEnv(): Promise<Env> {
  const url = await createPostgresDatabase();
  const driver = openPostgres(url);
  await migrate(driver);
  await driver.close();
  return sqliteEnv({ DESK_DATABASE_URL: url });
}

export const DATABASES = [
  ['SQLite', sqliteEnv],
  ['PostgreSQL', postgresEnv],
] as const;

/** Runs the desk's command from source, with piped output. */
export async function runDesk(args: readonly string[], env: Env, encoding: BufferEncoding = 'utf8'): Promise<Said> {
  const [out, err] = [new PassThrough(), new PassThrough()];
  const texts = [out, err].map((stream) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    return () => Buffer.concat(chunks).toString(encoding);
  });
  const code = await runTerminal({ args, env, out, err, root: env.DATA_DIR ?? '' });
  // The output arrives in a later event loop iteration.
  await new Promise((resolve) => setImmediate(resolve));
  return { code, out: texts[0]?.() ?? '', err: texts[1]?.() ?? '' };
}
