import type { ActionResult, PageError } from '../../../../shared/engine/wire/payload.ts';
import { readAction } from '../../../../shared/engine/wire/protocol.ts';
import { inSpan } from '../../request/timings.ts';
import { type LoadOptions, runGuards, untilEnd } from '../load-page.ts';
import type { Loaded, LoadedPage } from '../loaded.ts';
import { forgetFound } from '../once-per-request.ts';
import type { PageRequest } from '../page-request.ts';
import { type LoaderArgs, type PageTable, Refusal, type ServerPage } from '../server-page.ts';
import { toTypedValues } from './form-body.ts';

/** How an action ended. */
export type ActionEnd =
  | Exclude<Loaded, LoadedPage>
  | { readonly kind: 'failed'; readonly routeId: string; readonly error: PageError }
  | { readonly kind: 'result'; readonly result: ActionResult };

export interface RunOptions extends Pick<LoadOptions, 'services' | 'pageRequest'> {
  readonly form: FormData;
}

/**
 * Finds the action of a form among the matched routes, and runs the guards and then the action. Open actions run
 * without guards.
 */
export async function runAction({ services, pageRequest, form }: RunOptions): Promise<ActionEnd> {
  const { pages, funnel } = services;
  pageRequest.form = form;
  const found = findAction(pageRequest, readAction(form), pages);
  if (!found.run) {
    const status = found.name === undefined ? 405 : 409;
    return {
      kind: 'result',
      result: { action: found.name ?? '', status, errors: { '': UNKNOWN_ACTION }, values: toTypedValues(form) },
    };
  }
  let made: Promise<LoaderArgs> | undefined;
  function toArgs(): Promise<LoaderArgs> {
    made ??= toPostArgs(pageRequest);
    return made;
  }
  const stopped = found.isOpen ? undefined : await runGuards({ services, pageRequest, toArgs });
  if (stopped) return 'kind' in stopped ? stopped : { kind: 'failed', ...stopped };
  try {
    const args = await untilEnd(pageRequest, toArgs);
    const since = performance.now();
    const answer = await inSpan(pageRequest.info, 'action', found.name, () => runFound(found, args, form));
    pageRequest.info.timings?.add('action', since, found.name);
    return { kind: 'result', result: toResult(found.name, answer, form) };
  } catch (error) {
    const disposition = funnel.fail(error, pageRequest.describe('action', found.routeId));
    if (disposition.kind === 'visitor-gone') return { kind: 'gone' };
    if (disposition.kind === 'redirect') return disposition;
    // The error replaces the page, as in the browser, so a layout still works if its action fails. An open action can
    // run for a visitor whom the layout's guards refuse, so then the layout is not shown.
    const leaf = found.isOpen ? undefined : pageRequest.match.ids.at(-1);
    return { kind: 'failed', routeId: leaf ?? found.routeId, error: disposition.error };
  }
}

/** The arguments of an action and of the guards before it: their request is a POST. */
async function toPostArgs(pageRequest: PageRequest): Promise<LoaderArgs> {
  const args = await pageRequest.toArgs();
  return { ...args, request: new Request(args.request, { method: 'POST' }) };
}

async function runFound(found: FoundAction, args: LoaderArgs, form: FormData): Promise<unknown> {
  try {
    return await found.run({ ...args, form });
  } finally {
    forgetFound(args.context); // the page is loaded again, and shows what the action changed
  }
}

const UNKNOWN_ACTION =
  'This form is from another version of the site. Nothing was lost. Reload the page, then send it again.';

type Action = NonNullable<ServerPage['actions']>[string];
interface FoundAction {
  readonly name: string;
  readonly routeId: string;
  readonly run: Action;
  /** It runs without guards. */
  readonly isOpen: boolean;
}

/** A form without a name, such as a plain HTML form, uses the page's action `default`. */
function findAction(
  pageRequest: PageRequest,
  named: string | undefined,
  pages: PageTable,
): FoundAction | { readonly name: string | undefined; readonly run?: undefined } {
  const leaf = pageRequest.match.ids.at(-1) ?? '';
  const name = named ?? `${leaf}.default`;
  const dot = name.lastIndexOf('.');
  const routeId = name.slice(0, dot);
  const page = pageRequest.match.ids.includes(routeId) ? pages[routeId] : undefined;
  const key = name.slice(dot + 1);
  const actions = page?.actions;
  const run = actions && Object.hasOwn(actions, key) ? actions[key] : undefined;
  return run ? { name, routeId, run, isOpen: page?.openActions?.includes(key) ?? false } : { name: named };
}

function toResult(action: string, answer: unknown, form: FormData): ActionResult {
  if (answer instanceof Refusal) {
    return { action, status: answer.status, errors: answer.errors, values: toTypedValues(form) };
  }
  return { action, status: 200, ...(answer === undefined ? {} : { data: answer }) };
}
