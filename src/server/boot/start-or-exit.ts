import { START_ERRORS } from '../destination.ts';
import { ListenError } from '../engine/connection/listen.ts';
import { onStopSignal } from '../engine/connection/stop-signals.ts';
import { WiringError } from '../engine/pages/wiring.ts';
import { ConfigError } from '../engine/settings.ts';
import { UnwritableFolderError } from './data-folder.ts';
import { ServicesError } from './services.ts';

/** Errors whose message says what to do. They are printed without a stack. */
const EXPECTED = [ConfigError, ...START_ERRORS, UnwritableFolderError, ListenError, ServicesError, WiringError];

/** Frames of a stack (a count). Node's default of 10 can end inside a dependency, before the line that called it. */
const STACK_FRAMES = 30;

/** Starts the server. On an expected error, prints its message and exits with status 1. */
export async function startOrExit(start: () => Promise<void>): Promise<void> {
  Error.stackTraceLimit = STACK_FRAMES;
  // No request was answered yet, so there is nothing to drain.
  onStopSignal(() => process.exit(0));
  try {
    await start();
  } catch (error) {
    if (!EXPECTED.some((kind) => error instanceof kind)) throw error;
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  }
}
