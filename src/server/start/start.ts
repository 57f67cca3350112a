import { isInProduct } from '../../shared/whose-code.mjs';
import { onStopSignal } from '../connection/stop.ts';
import { requireProduct } from '../define-product.ts';
import { loadLocationTable } from '../errors/digest/location-table.ts';
import { parseStack } from '../errors/digest/read-error.ts';
import { WiringError } from '../errors/wiring-error.ts';
import { StartError } from '../start-error.ts';
import { connect } from './connect.ts';
import { listen } from './listen.ts';
import { open, type Site } from './open.ts';
import { describeThrown } from './services.ts';
import { waitFor } from './wait-for.ts';

/** Frames of a stack (a count). Node's default of 10 can end inside a dependency, before the line that called it. */
const STACK_FRAMES = 30;

interface Start<Settings, Services, Own extends object>
  extends Pick<Site<Settings, Services, Own>, 'dist' | 'tracker'> {
  /** Imports the product. Called late, so that no product code runs before: it can be what is broken. */
  readonly load: () => Promise<Omit<Site<Settings, Services, Own>, 'dist' | 'tracker'>>;
}

/**
 * Starts the server, or checks it (`--check`). On an expected error, prints its message and exits with status 1. Of what
 * the product throws, it also prints the lines of the product.
 */
export async function startOrExit<Settings, Services, Own extends object>({
  dist,
  tracker,
  load,
}: Start<Settings, Services, Own>): Promise<void> {
  Error.stackTraceLimit = STACK_FRAMES;
  // No request was answered yet, so there is nothing to drain.
  onStopSignal(() => process.exit(0));
  try {
    requireKnownOptions(process.argv.slice(2));
    const site = { dist, tracker, ...(await waitFor("The product's modules have not loaded", load())) };
    requireProduct(site.product);
    if (process.argv.includes('--check')) {
      const { runCheck } = await import('./check.ts');
      process.exit(await runCheck(process.argv, site));
    }
    const opened = await open(site);
    await listen(opened, connect(opened));
  } catch (error) {
    process.stderr.write(`${describe(error, dist)}\n`);
    process.exit(1);
  }
}

/** A port that was given as an option would otherwise be ignored silently. */
function requireKnownOptions(args: readonly string[]): void {
  const unknown = args.find((arg) => arg.startsWith('-') && arg !== '--check');
  if (unknown !== undefined)
    throw new StartError(
      `There is no option ${unknown}. \`npm start\` starts the server, and \`npm start -- --check [url]\` checks it. Settings are environment variables, such as \`PORT=4000 npm start\`.`,
    );
}

/** @throws the error if it is unexpected and no line of the product is in its stack. Then Node prints all of it. */
function describe(error: unknown, dist: string): string {
  if (error instanceof WiringError) {
    const file = findProductFile(error, dist);
    return `${error.message}${file ? `\n    at ${file}` : ''}`;
  }
  if (error instanceof StartError) return error.message;
  const text = describeThrown(error, dist, loadLocationTable(dist));
  // Under `npm run dev`, Node maps the stack.
  if (process.env.SPILLWAY_DEV || !text.includes('\n    at ')) throw error;
  return `The server does not start:\n${text}${adviseOnFolder(error, dist)}`;
}

/** A package in the bundle has no folder. Only the innermost frame says which one it is. */
function adviseOnFolder(error: unknown, dist: string): string {
  if (!(error instanceof ReferenceError) || !/^__(?:dir|file)name /.test(error.message)) return '';
  const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(listPaths(error, dist)[0] ?? '')?.[1];
  return name
    ? `\n${name} looks for its own files, and the build bundles it. Install it in the project's root, and add '${name}' to \`external\` in src/server/product/build.mjs.`
    : '';
}

/** Returns the product's file that called the engine, such as `src/server/product/api/orders/handlers.ts`. */
function findProductFile(error: Error, dist: string): string | undefined {
  return listPaths(error, dist).find((path) => path !== undefined && isInProduct(path));
}

/** The source files of a stack, the innermost first. */
function listPaths({ stack = '', message }: Error, dist: string): (string | undefined)[] {
  const table = loadLocationTable(dist);
  return parseStack(stack, { dist }, message).map((frame) => table.find(frame)?.path);
}
