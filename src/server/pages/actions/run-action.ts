import type { ActionResult, PageError } from '../../../shared/wire/payload.ts';
import { readAction } from '../../../shared/wire/protocol.ts';
import { inSpan } from '../../request/request-spans.ts';
import type { Loaded, LoadedPage } from '../kept.ts';
import { type LoadOptions, runGuards, untilEnd } from '../load-page.ts';
import type { PageRequest } from '../page-request.ts';
import type { PageServices } from '../page-response.ts';
import { type LoaderArgs, type PageTable, Refusal, type ServerPage } from '../server-page.ts';
import { toTypedValues } from './form-body.ts';

/** How an action ended. */
export type ActionEnd =
  | Exclude<Loaded, LoadedPage>
  | { readonly kind: 'failed'; readonly routeId: string; readonly error: PageError }
  | { readonly kind: 'result'; readonly result: ActionResult }
  /** No route of the page has the action. Without JavaScript the error is shown, with what was typed. */
  | {
      readonly kind: 'unknown';
      readonly result: ActionResult;
      readonly routeId: string;
      readonly error: PageError;
    };

interface RunOptions extends Pick<LoadOptions, 'pageRequest'> {
  readonly services: Pick<PageServices, 'pages' | 'funnel' | 'log'>;
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
  if (!found.run) return refuseUnknown(found.name, form, { services, pageRequest });
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
    const answer = await inSpan(pageRequest.info, 'action', found.name, async () => found.run({ ...args, form }));
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

const NO_ACTION = 'This page does not accept the form.';
const OTHER_BUILD = 'This form is from another version of the site, so it was not processed.';
const RELOAD = `${OTHER_BUILD} Reload the page, then send it again. What you typed is kept, except passwords and files.`;
const COPY = `${OTHER_BUILD} Copy what you typed, then open the page again.`;

function refuseUnknown(
  name: string | undefined,
  form: FormData,
  { services, pageRequest }: Omit<RunOptions, 'form'>,
): ActionEnd {
  const values = toTypedValues(form);
  if (name === undefined) {
    return { kind: 'result', result: { action: '', status: 405, errors: { '': NO_ACTION }, values } };
  }
  const misplaced = describeMisplaced(name, pageRequest, services.pages);
  if (misplaced) services.log.warn({ action: name }, misplaced);
  const hint = process.env.SPILLWAY_DEV ? misplaced : undefined;
  return {
    kind: 'unknown',
    result: { action: name, status: 409, errors: { '': hint ?? RELOAD }, values },
    routeId: pageRequest.match.ids.at(-1) ?? '',
    error: { kind: 'public', status: 409, message: hint ?? COPY, typed: values },
  };
}

/** Describes a form that no build could process on its page, because the action is of another route. */
function describeMisplaced(name: string, { match }: PageRequest, pages: PageTable): string | undefined {
  const [routeId, key] = splitName(name);
  const isAction = Object.hasOwn(pages, routeId) && Object.hasOwn(pages[routeId]?.actions ?? {}, key);
  if (!isAction || match.ids.includes(routeId)) return undefined;
  const ids = match.ids.filter((id) => !id.startsWith('@')).join(', ');
  return `A form was posted to ${match.pattern} with the action "${name}", but that page has no route "${routeId}" (its routes: ${ids}). Post the form to a page of "${routeId}" with its prop \`to\`, or move the action to a layout of both pages.`;
}

function splitName(name: string): [routeId: string, key: string] {
  const dot = name.lastIndexOf('.');
  return [name.slice(0, dot), name.slice(dot + 1)];
}

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
  const [routeId, key] = splitName(name);
  const page = pageRequest.match.ids.includes(routeId) ? pages[routeId] : undefined;
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
