import { languageOf, say } from '../../../shared/rendering/language.ts';
import type { ActionResult, PageError } from '../../../shared/wire/payload.ts';
import { ACTION_ACCEPT, NOT_FOUND_ROUTE, readAction } from '../../../shared/wire/protocol.ts';
import { inSpan } from '../../request/request-spans.ts';
import { addSearch, type Loaded, type LoadedPage, loadPage, type Redirect, runGuards, untilEnd } from '../load-page.ts';
import type { PageRequest } from '../page-request.ts';
import { type PageExchange, READ_METHODS, sendRedirect, type VisitorExchange } from '../page-response.ts';
import type { PageServices } from '../page-services.ts';
import { sendActionData, sendRedirectData } from '../render/page-data.ts';
import { sendDocument } from '../render/show-page.ts';
import { type LoaderArgs, type PageTable, Refusal, type ServerPage } from '../server-page.ts';
import { readForm, toTypedValues } from './form-body.ts';
import { applyResponseCookies } from './response-cookies.ts';

/**
 * Handles a form that was posted to a page. Without JavaScript the response is 303, or the page with the errors and
 * what was typed. With JavaScript it is the same as data.
 */
export async function postAction(exchange: VisitorExchange): Promise<void> {
  const { pageRequest, response } = exchange;
  const wantsData = response.req.headers.accept?.includes(ACTION_ACCEPT) ?? false;
  response.vary('Accept');
  const end = await takeForm(exchange, wantsData);
  if (end.kind === 'gone') return;
  if (end.kind === 'redirect') return redirectTo(exchange, wantsData, end);

  const result = end.kind === 'failed' ? undefined : end.result;
  if (result?.status === 405 && pageRequest.match.ids.at(-1) !== NOT_FOUND_ROUTE) {
    response.setHeader('Allow', READ_METHODS);
  }
  if (!wantsData && result && isDone(result)) {
    return sendRedirect(exchange, { status: 303, location: pageRequest.path + pageRequest.search });
  }
  const failed = end.kind === 'failed' || (end.kind === 'unknown' && !wantsData) ? end : undefined;
  applyResponseCookies(response);
  pageRequest.renewArgs();
  const loaded = await loadPage(exchange, { failed });
  if (loaded.kind === 'gone') return;
  if (loaded.kind === 'redirect') return redirectTo(exchange, wantsData, loaded);
  if (wantsData) return sendActionData(exchange, loaded, result);
  return sendDocument(exchange, loaded, result);
}

/** Reads the form and runs its action. */
async function takeForm({ services, pageRequest, response }: VisitorExchange, wantsData: boolean): Promise<ActionEnd> {
  const { maxActionBytes: limit } = services.app.settings;
  const { req: request } = response;
  let form: FormData;
  try {
    form = await readForm({ request, response, limit });
    pageRequest.enter();
  } catch (error) {
    const disposition = pageRequest.fail(error, 'action');
    if (disposition.kind !== 'error') return { kind: 'gone' };
    const { status, message = 'The form was not accepted.', kind } = disposition.error;
    // With JavaScript the form stays on the page, which does not become an error page.
    if (wantsData && kind !== 'failure') {
      return { kind: 'result', result: { action: '', status, errors: { '': message } } };
    }
    return { kind: 'failed', routeId: pageRequest.match.ids.at(-1) ?? '', error: disposition.error };
  }
  pageRequest.form = form;
  return runAction(services, pageRequest, form);
}

/** The action succeeded and returned nothing, so a redirect avoids a second post on reload. */
function isDone(result: ActionResult): boolean {
  return result.status === 200 && result.data === undefined;
}

function redirectTo(exchange: PageExchange, wantsData: boolean, redirect: Redirect): void {
  if (wantsData) sendRedirectData(exchange, redirect.location);
  else sendRedirect(exchange, redirect);
}

/** How an action ended. */
type ActionEnd =
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

/**
 * Finds the action of a form among the matched routes, and runs the guards and then the action. Open actions run
 * without guards.
 */
async function runAction(services: PageServices, pageRequest: PageRequest, form: FormData): Promise<ActionEnd> {
  const found = findAction(pageRequest, readAction(form), services.app.pages);
  if (!found.run) return refuseUnknown(services, pageRequest, { name: found.name, form });
  let made: Promise<LoaderArgs> | undefined;
  function toArgs(): Promise<LoaderArgs> {
    made ??= toPostArgs(pageRequest);
    return made;
  }
  const stopped = found.isOpen ? undefined : await runGuards({ services, pageRequest }, { toArgs });
  if (stopped) return 'kind' in stopped ? stopped : { kind: 'failed', ...stopped };
  try {
    const args = await addSearch(found.page, pageRequest, await untilEnd(pageRequest, toArgs));
    const since = performance.now();
    const answer = await inSpan(pageRequest.info, 'action', found.name, async () => found.run({ ...args, form }));
    pageRequest.info.timings?.add('action', since, found.name);
    return { kind: 'result', result: toResult(found.name, answer, form) };
  } catch (error) {
    const disposition = pageRequest.fail(error, 'action', { routeId: found.routeId });
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
const RELOAD =
  'This form is from another version of the site, so it was not processed. Reload the page, then send it again. What you typed is kept, except passwords and files.';
const COPY =
  'This form is from another version of the site, so it was not processed. Copy what you typed, then open the page again.';

function refuseUnknown(
  { app, server }: PageServices,
  pageRequest: PageRequest,
  { name, form }: { readonly name: string | undefined; readonly form: FormData },
): ActionEnd {
  const values = toTypedValues(form);
  const language = languageOf(app.document, pageRequest.path);
  if (name === undefined) {
    return { kind: 'result', result: { action: '', status: 405, errors: { '': say(language, NO_ACTION) }, values } };
  }
  const misplaced = describeMisplaced(name, pageRequest, app.pages);
  if (misplaced) server.log.warn({ action: name }, misplaced);
  const hint = process.env.SPILLWAY_DEV ? misplaced : undefined;
  return {
    kind: 'unknown',
    result: { action: name, status: 409, errors: { '': hint ?? say(language, RELOAD) }, values },
    routeId: pageRequest.match.ids.at(-1) ?? '',
    error: { kind: 'public', status: 409, message: hint ?? say(language, COPY), typed: values },
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
  readonly page: ServerPage;
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
  return page && run
    ? { name, routeId, page, run, isOpen: page?.openActions?.includes(key) ?? false }
    : { name: named };
}

function toResult(action: string, answer: unknown, form: FormData): ActionResult {
  if (answer instanceof Refusal) {
    return { action, status: answer.status, errors: answer.errors, values: toTypedValues(form) };
  }
  return { action, status: 200, ...(answer === undefined ? {} : { data: answer }) };
}
