import type { Config } from '../config.ts';
import type { NotifySettings } from '../desk/notifications/settings.ts';
import type { DeskFacts } from '../desk/pages/context.ts';
import { presentNotify } from '../desk/views/present-notify.ts';

/** What the desk says of where it is. */
export function toDeskFacts(
  { sentryEnvironment, sourceLink }: Pick<Config, 'sentryEnvironment' | 'sourceLink'>,
  release: string,
  notify: NotifySettings | undefined,
): DeskFacts {
  return { environment: sentryEnvironment, release, sourceLink, notify: presentNotify(notify) };
}
