import type { DeskLog } from '../desk-log.ts';

/** Prints a sign-in link on standard error, because logs are often forwarded and kept. */
export async function printSignInLink(link: Promise<string>, log: DeskLog): Promise<void> {
  try {
    process.stderr.write(`Sign in to the desk (works once, expires in 15 minutes): ${await link}\n`);
  } catch (error) {
    log.warn({ err: error }, 'No sign-in link could be created. Sign in with the token in DATA_DIR/desk-token.');
  }
}
