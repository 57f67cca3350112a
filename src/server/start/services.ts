import { inspect } from 'node:util';
import { Second } from '../../shared/units.ts';
import type { ProductServices, ServiceTools } from '../define-product.ts';
import { report } from '../errors/report.ts';
import type { Scrubber } from '../errors/scrub.ts';
import { StartError } from '../start-error.ts';
import { waitFor } from './wait-for.ts';

/** How long services can take to close (ms). It is less than the process has left. */
const SERVICES_CLOSE_TIME = 3 * Second;

interface ServicesOptions extends ServiceTools {
  readonly scrubber: Pick<Scrubber, 'text'>;
}

/**
 * Opens the product's services before the server listens.
 *
 * @throws StartError with the message of what `open` threw, without secrets
 */
export async function openServices<Settings, Services>(
  product: ProductServices<Settings, Services> | undefined,
  settings: Settings,
  { scrubber, log }: ServicesOptions,
) {
  let services: Services;
  try {
    const opening = product?.open(settings, { log });
    services = (await waitFor("The product's services have not opened", opening)) as Services; // without services, the type is undefined
  } catch (error) {
    const thrown = scrubber.text(inspect(error));
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
