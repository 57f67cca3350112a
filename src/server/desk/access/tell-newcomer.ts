import type { DeskLog } from '../desk-log.ts';

/** Prints the first sign-in link to stderr, because logs can be forwarded and stored. */
export async function tellNewcomer(link: Promise<string>, log: DeskLog): Promise<void> {
  try {
    process.stderr.write(`Sign in to the desk (the link works once and expires after 15 minutes): ${await link}\n`);
  } catch (error) {
    log.warn(
      { err: error },
      'No sign-in link for the desk could be created. Sign in with the token in DATA_DIR/desk-token.',
    );
  }
}
