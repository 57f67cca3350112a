import { ConfigError } from './config.ts';
import { UnwritableFolderError } from './desk/data-folder.ts';
import { DeskInUseError } from './desk/desk.ts';
import { ListenError } from './engine/http/listen.ts';
import { onStopSignal } from './engine/http/stop-signals.ts';
import { WiringError } from './engine/pages/wiring.ts';

/** What stops a start with a sentence that says what to do. */
const EXPECTED = [ConfigError, DeskInUseError, UnwritableFolderError, ListenError, WiringError];

/** Starts, or ends the process with status 1 and the sentence. */
export async function startOrExit(start: () => Promise<void>): Promise<void> {
  // Nobody was answered yet, so there is nothing to finish.
  onStopSignal(() => process.exit(0));
  try {
    await start();
  } catch (error) {
    if (!EXPECTED.some((kind) => error instanceof kind)) throw error;
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  }
}
