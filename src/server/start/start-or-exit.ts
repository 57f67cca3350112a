import { isInProduct } from '../../shared/whose-code.mjs';
import { ListenError } from '../connection/listen.ts';
import { onStopSignal } from '../connection/stop.ts';
import { START_ERRORS } from '../destination.ts';
import { loadLocationTable } from '../errors/digest/location-table.ts';
import { parseStack } from '../errors/digest/parse-stack.ts';
import { WiringError } from '../errors/wiring-error.ts';
import { ConfigError } from '../settings.ts';
import { UnwritableFolderError } from './data-folder.ts';
import { ServicesError } from './services.ts';

/** Errors whose message says what to do. They are printed without a stack. */
const EXPECTED = [ConfigError, ...START_ERRORS, UnwritableFolderError, ListenError, ServicesError, WiringError];

/** Frames of a stack (a count). Node's default of 10 can end inside a dependency, before the line that called it. */
const STACK_FRAMES = 30;

/**
 * Starts the server. On an expected error, prints its message and exits with status 1.
 *
 * @param dist the folder of the build
 */
export async function startOrExit(dist: string, start: () => Promise<void>): Promise<void> {
  Error.stackTraceLimit = STACK_FRAMES;
  // No request was answered yet, so there is nothing to drain.
  onStopSignal(() => process.exit(0));
  try {
    await start();
  } catch (error) {
    if (!EXPECTED.some((kind) => error instanceof kind)) throw error;
    const file = error instanceof WiringError ? findProductFile(error, dist) : undefined;
    process.stderr.write(`${(error as Error).message}\n${file ? `    at ${file}\n` : ''}`);
    process.exit(1);
  }
}

/** Returns the product's file that called the engine, such as `src/server/product/api/orders/handlers.ts`. */
function findProductFile({ stack = '', message }: Error, dist: string): string | undefined {
  const table = loadLocationTable(dist);
  const paths = parseStack(stack, { dist }, message).map((frame) => table.find(frame)?.path);
  return paths.find((path) => path !== undefined && isInProduct(path));
}
