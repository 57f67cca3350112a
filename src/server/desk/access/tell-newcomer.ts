import type { DeskLog } from '../desk-log.ts';

/** Prints the first sign-in link: beside the log, which may be sent to others and kept. */
export async function tellNewcomer(link: Promise<string>, log: DeskLog): Promise<void> {
  try {
    process.stderr.write(`Sign in to the desk, once and within 15 minutes: ${await link}\n`);
  } catch (error) {
    log.warn({ err: error }, 'No sign-in link for the desk could be made. Its token is in DATA_DIR/desk-token.');
  }
}
