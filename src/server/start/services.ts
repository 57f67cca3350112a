import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { causesOf } from '../../shared/reporting/causes.ts';
import { Second } from '../../shared/units.ts';
import type { ProductServices, ServiceTools } from '../define-product.ts';
import { emptyLocationTable, type LocationTable } from '../errors/digest/location-table.ts';
import { parseStack, readError } from '../errors/digest/read-error.ts';
import type { StackFrame } from '../errors/failure.ts';
import { report } from '../errors/report.ts';
import type { Scrubber } from '../errors/scrub.ts';
import { isError } from '../request/http-error.ts';
import { StartError } from '../start-error.ts';
import { waitFor } from './wait-for.ts';

/** How long services can take to close (ms). It is less than the process has left. */
const SERVICES_CLOSE_TIME = 3 * Second;

interface ServicesOptions extends ServiceTools {
  readonly scrubber: Pick<Scrubber, 'text'>;
  /** The folder of the build. */
  readonly dist?: string;
  readonly table?: () => LocationTable;
}

/**
 * Opens the product's services before the server listens.
 *
 * @throws StartError with the message of what `open` threw, without secrets
 */
export async function openServices<Settings, Services>(
  product: ProductServices<Settings, Services> | undefined,
  settings: Settings,
  { scrubber, log, dist = join(process.cwd(), 'dist'), table = () => emptyLocationTable }: ServicesOptions,
) {
  let services: Services;
  try {
    const opening = product?.open(settings, { log });
    services = (await waitFor("The product's services have not opened", opening)) as Services; // without services, the type is undefined
  } catch (error) {
    const thrown = scrubber.text(describeThrown(error, dist, table()));
    throw new StartError(`The product's services cannot be opened, so the server does not start:\n${thrown}`);
  }

  return {
    services,
    /** Closes the services. Never rejects: an error is reported as a failure. */
    async close(): Promise<void> {
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(() => {
        log.error({ within: SERVICES_CLOSE_TIME }, "The product's services did not close in time.");
        late.resolve();
      }, SERVICES_CLOSE_TIME);
      try {
        await Promise.race([product?.close?.(services), late.promise]);
      } catch (error) {
        report(error);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** Returns the error and its causes, and once where they were thrown: the lines of the product. */
export function describeThrown(thrown: unknown, dist: string, table: LocationTable): string {
  const chain = causesOf(thrown, isError);
  const toLine = createLines(dist);
  const stacks = chain.toReversed().map((error) =>
    parseStack(isError(error) ? (error.stack ?? '') : '', { dist }, readError(error).message)
      .map((frame) => ({ frame, found: table.find(frame) }))
      .filter(({ found }) => found?.owner === 'product')
      .map(({ frame, found }) => `\n    at ${found?.path}${toLine(frame)}`),
  );
  const lines = stacks.find((locations) => locations.length > 0) ?? [];
  return chain.map(nameError).join('\nCaused by ') + [...new Set(lines)].join('');
}

/** Only a failed start reads the map of the bundle. A build that is still running has not written it. */
function createLines(dist: string) {
  const path = join(dist, 'maps/server/site.js.map');
  const map = existsSync(path) ? new SourceMap(JSON.parse(readFileSync(path, 'utf8'))) : undefined;
  return function toLine({ file, line, column }: StackFrame): string {
    if (file !== 'server/site.js') return `:${line}`;
    const entry = map?.findEntry(line - 1, column - 1);
    return entry && 'originalLine' in entry ? `:${entry.originalLine + 1}` : '';
  };
}

/** An `AggregateError` of a connection has its reasons in its members, and no message. */
function nameError(error: unknown): string {
  const { message } = readError(error);
  if (!isError(error)) return message;
  const members = error instanceof AggregateError ? error.errors.map((member) => readError(member).message) : [];
  return `${error.name}: ${[message, ...members].filter((text) => text !== '').join(', ')}`;
}
