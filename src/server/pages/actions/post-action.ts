import { type EngineText, type Language, say } from '../../../shared/rendering/language.ts';
import type { ActionResult, PageError } from '../../../shared/wire/payload.ts';
import { holdRejections } from '../../../shared/wire/plain.ts';
import { ACTION_ACCEPT, NOT_FOUND_ROUTE, readAction } from '../../../shared/wire/protocol.ts';
import { toSize } from '../../../shared/words.ts';
import { PRODUCT_FILE } from '../../errors/wiring-error.ts';
import { BodyTooLarge } from '../../request/body-reader.ts';
import { HttpError } from '../../request/http-error.ts';
import type { ReceivedForm } from '../../request/read-multipart.ts';
import { inPhase } from '../../request/request-spans.ts';
import { onClose, READ_METHODS } from '../../request/step.ts';
import { addSearch, type Loaded, type LoadedPage, loadPage, type Redirect, runGuards, untilEnd } from '../load-page.ts';
import type { PageRequest } from '../page-request.ts';
import { type PageExchange, sendRedirect, type VisitorExchange } from '../page-response.ts';
import type { PageRuntime } from '../page-runtime.ts';
import { listUploads } from '../render/encode-page.ts';
import { sendActionData, sendRedirectData } from '../render/page-data.ts';
import { sendDocument } from '../render/show-page.ts';
import { type ActionHandler, type LoaderArgs, type PageTable, Refusal, type ServerPage } from '../server-page.ts';
import { isMultipart, readForm, toTypedValues } from './form-body.ts';
import { applyResponseCookies } from './response-cookies.ts';

/**
 * Handles a form that was posted to a page. Without JavaScript the response is 303, or the page with the errors and
 * what was typed. With JavaScript it is the same as data.
 */
export async function postAction(exchange: VisitorExchange): Promise<void> {
  const { pageRequest, response } = exchange;
  const wantsData = response.req.headers.accept?.includes(ACTION_ACCEPT) ?? false;
  response.vary('Accept');
  const posted = new PostedForm(exchange);
  try {
    const end = await posted.take(wantsData);
    if (end.kind === 'gone') return;
    if (end.kind === 'redirect') return redirectTo(exchange, wantsData, end);
    const { result } = end;
    if (result?.status === 405 && pageRequest.match.ids.at(-1) !== NOT_FOUND_ROUTE) {
      response.setHeader('Allow', READ_METHODS);
    }
    if (!wantsData && result && isDone(result)) {
      return sendRedirect(exchange, { status: 303, location: pageRequest.path + pageRequest.search });
    }
    applyResponseCookies(response);
    pageRequest.renew();
    const failed = end.kind === 'failed' ? { routeId: end.routeId, error: end.error } : undefined;
    const loaded = await loadPage(exchange, failed);
    if (loaded.kind === 'gone') return;
    const isUnsent = !result || result.errors !== undefined;
    if (loaded.kind === 'redirect') return redirectTo(exchange, wantsData, { ...loaded, isUnsent });
    if (wantsData) return await sendActionData(exchange, loaded, result);
    return await sendDocument(exchange, loaded, result);
  } finally {
    // An action that still runs when its visitor leaves can use the files to its end.
    onClose(response, () => void posted.received?.remove());
  }
}

/** The action succeeded and returned nothing, so a redirect avoids a second post on reload. */
function isDone(result: ActionResult): boolean {
  return result.status === 200 && result.data === undefined;
}

function redirectTo(exchange: PageExchange, wantsData: boolean, redirect: Redirect): void {
  if (process.env.SPILLWAY_DEV) warnOfBlocked(exchange, redirect.location);
  if (wantsData) sendRedirectData(exchange, redirect);
  else sendRedirect(exchange, redirect);
}

function warnOfBlocked({ runtime: { server }, pageRequest: { info, match } }: PageExchange, location: string): void {
  const { origin } = new URL(location, info.origin);
  if (origin === info.origin || server.policy.leadsForms(origin)) return;
  server.log.warn(
    { route: match.pattern },
    `A form was redirected to ${origin}, which is no \`form\` source. Before hydration and without JavaScript, browsers block that. Add it to contentSources in ${PRODUCT_FILE}: { form: ['${origin}'] }.`,
  );
}

/** How an action ended. */
type ActionEnd =
  | Exclude<Loaded, LoadedPage>
  | { readonly kind: 'result'; readonly result: ActionResult }
  /** An error is shown, with the result if no route of the page has the action. */
  | { readonly kind: 'failed'; readonly routeId: string; readonly error: PageError; readonly result?: ActionResult };

/** A form on its way to its action. */
class PostedForm {
  received: ReceivedForm | undefined;
  readonly #exchange: VisitorExchange;
  #args: Promise<LoaderArgs> | undefined;
  #guarded: Promise<ActionEnd | undefined> | undefined;

  constructor(exchange: VisitorExchange) {
    this.#exchange = exchange;
  }

  /** Reads the form and runs its action. */
  async take(wantsData: boolean): Promise<ActionEnd> {
    const { runtime, pageRequest, response } = this.#exchange;
    let found: Found;
    try {
      this.received = await readForm({
        request: response.req,
        response,
        limit: findLargestLimit(this.#exchange),
        admit: (fields) => this.#admit(fields),
      });
      found = findAction(this.#exchange, readAction(this.received.form));
      if (this.received.bytes > found.maxBytes) throw new BodyTooLarge(found.maxBytes);
      if (
        process.env.SPILLWAY_DEV &&
        found.maxBytes > runtime.app.settings.maxActionBytes &&
        !isMultipart(response.req)
      )
        runtime.server.log.warn({ action: found.name }, NO_FILES);
      pageRequest.enter();
    } catch (error) {
      const stopped = await this.#guarded;
      if (stopped) return stopped;
      pageRequest.enter(); // for the page around the error
      const { language } = pageRequest.info;
      const disposition = pageRequest.fail(
        error instanceof BodyTooLarge ? translate(error, language) : error,
        'action',
      );
      if (disposition.kind !== 'error') return disposition;
      const { status, kind } = disposition.error;
      const message = say(language, disposition.error.message ?? ('The form was not accepted.' satisfies EngineText));
      // With JavaScript the form stays on the page, which does not become an error page.
      if (wantsData && kind !== 'failure') {
        return { kind: 'result', result: { action: '', status, errors: { '': message } } };
      }
      return { kind: 'failed', routeId: pageRequest.match.ids.at(-1) ?? '', error: { ...disposition.error, message } };
    }
    const { form } = this.received;
    pageRequest.form = form;
    if (!found.run) return refuseUnknown(runtime, pageRequest, { name: found.name, form, wantsData });
    return this.#run(found, form);
  }

  /**
   * Runs the guards before the files of a form are stored, so that only visitors with access can fill the disk. Their
   * form can still be for any action of the page: a button names another one after the files.
   *
   * @throws HttpError if a guard stops the form
   */
  async #admit(fields: FormData): Promise<number> {
    const { pageRequest } = this.#exchange;
    const found = findAction(this.#exchange, readAction(fields));
    if (found.isOpen) return found.maxBytes;
    pageRequest.enter();
    if (await this.#guard()) throw new HttpError(403);
    pageRequest.wait();
    return findLargestLimit(this.#exchange);
  }

  /** Runs the guards, once. */
  #guard(): Promise<ActionEnd | undefined> {
    this.#guarded ??= runGuards(this.#exchange, { toArgs: () => this.#toArgs() }).then((stopped) => {
      if (!stopped || !('kind' in stopped)) return stopped && { kind: 'failed', ...stopped };
      return stopped.kind === 'redirect' ? { ...stopped, isUnsent: true } : stopped;
    });
    return this.#guarded;
  }

  #toArgs(): Promise<LoaderArgs> {
    this.#args ??= toPostArgs(this.#exchange.pageRequest);
    return this.#args;
  }

  /** Runs the guards, and then the action. Open actions run without guards. */
  async #run({ name, routeId, page, run, isOpen }: FoundAction, form: FormData): Promise<ActionEnd> {
    const { pageRequest } = this.#exchange;
    const stopped = isOpen ? undefined : await this.#guard();
    if (stopped) return stopped;
    try {
      const args = await addSearch(page, pageRequest, await untilEnd(pageRequest, () => this.#toArgs()));
      pageRequest.act();
      const answer = await inPhase(pageRequest.info, 'action', name, () => run({ ...args, form }));
      holdRejections(answer); // a promise in it can reject while the page is loaded
      return { kind: 'result', result: toResult(name, answer, form) };
    } catch (error) {
      const disposition = pageRequest.fail(error, 'action', {
        routeId,
        part: `actions.${name.slice(routeId.length + 1)}`,
      });
      if (disposition.kind !== 'error') return disposition;
      // The error replaces the page, as in the browser, so a layout still works if its action fails. An open action can
      // run for a visitor whom the layout's guards refuse, so then the layout is not shown.
      const leaf = isOpen ? undefined : pageRequest.match.ids.at(-1);
      return { kind: 'failed', routeId: leaf ?? routeId, error: disposition.error };
    }
  }
}

function translate({ limit }: BodyTooLarge, language: Language): HttpError {
  return new HttpError(413, say(language, TOO_LARGE, { size: toSize(limit) }));
}

/** The arguments of an action and of the guards before it: their request is a POST. */
async function toPostArgs(pageRequest: PageRequest): Promise<LoaderArgs> {
  const args = await pageRequest.toArgs();
  return { ...args, request: new Request(args.request, { method: 'POST' }) };
}

const NO_FILES =
  'The form has no encType="multipart/form-data", so the browser sent the names of its files and not the files. Add it to the form.';
const TOO_LARGE = 'This is more than {size}. Choose smaller files, or shorten the text.';
const NO_ACTION = 'This page does not accept the form.';
const RELOAD =
  'This form is from another version of the site, so it was not processed. Reload the page, then send it again. What you typed is kept, except passwords and files.';
const COPY =
  'This form is from another version of the site, so it was not processed. Copy what you typed, then open the page again.';

function refuseUnknown(
  { app, server }: PageRuntime,
  pageRequest: PageRequest,
  {
    name,
    form,
    wantsData,
  }: { readonly name: string | undefined; readonly form: FormData; readonly wantsData: boolean },
): ActionEnd {
  const values = toTypedValues(form);
  const { language } = pageRequest.info;
  const isDev = process.env.SPILLWAY_DEV;
  const routeId = pageRequest.match.ids.at(-1) ?? '';
  if (name === undefined) {
    if (isDev && routeId !== NOT_FOUND_ROUTE) {
      const message = describeUnknown(name, pageRequest, app.pages);
      server.log.warn({}, message);
      return { kind: 'failed', routeId, error: { kind: 'public', status: 405, typed: values, message } };
    }
    return { kind: 'result', result: { action: '', status: 405, errors: { '': say(language, NO_ACTION) }, values } };
  }
  const misplaced = describeMisplaced(name, pageRequest, app.pages);
  const mistake = misplaced ?? (isDev ? describeUnknown(name, pageRequest, app.pages) : undefined);
  if (mistake) server.log.warn({ action: name }, mistake);
  const error = { kind: 'public', status: 409, typed: values } as const;
  // In place of the page, because a form with a misspelt action reads the result of another one.
  if (isDev && mistake) return { kind: 'failed', routeId, error: { ...error, message: mistake } };
  const result = { action: name, status: 409, errors: { '': say(language, RELOAD) }, values };
  if (wantsData) return { kind: 'result', result };
  const shown = { ...error, message: say(language, COPY) }; // with what was typed
  return { kind: 'failed', routeId, error: shown, result: { ...result, values: {} } };
}

/** Describes a form that no build could process on its page, because the action is of another route. */
function describeMisplaced(name: string, { match }: PageRequest, pages: PageTable): string | undefined {
  const [routeId, key] = splitName(name);
  const isAction = Object.hasOwn(pages, routeId) && Object.hasOwn(pages[routeId]?.actions ?? {}, key);
  if (!isAction || match.ids.includes(routeId)) return undefined;
  const ids = match.ids.filter((id) => !id.startsWith('@')).join(', ');
  return `A form was posted to ${match.pattern} with the action "${name}", but that page has no route "${routeId}" (its routes: ${ids}). Post the form to a page of "${routeId}" with its prop \`to\`, or move the action to a layout of both pages.`;
}

/** In production, such a form is usually from an earlier build. */
function describeUnknown(name: string | undefined, { match }: PageRequest, pages: PageTable): string {
  const names = match.ids.flatMap((id) => Object.keys(pages[id]?.actions ?? {}).map((key) => `"${id}.${key}"`));
  const mistake =
    name === undefined
      ? 'without the name of an action, and the page has no action "default". Use <Form action="…">.'
      : `with the action "${name}", which no route of that page has.`;
  return `A form was posted to ${match.pattern} ${mistake} Its actions: ${names.join(', ') || 'none'}.`;
}

function splitName(name: string): [routeId: string, key: string] {
  const dot = name.lastIndexOf('.');
  return [name.slice(0, dot), name.slice(dot + 1)];
}

interface FoundAction {
  readonly name: string;
  readonly routeId: string;
  readonly page: ServerPage;
  readonly run: ActionHandler;
  /** It runs without guards. */
  readonly isOpen: boolean;
  /** The largest form (bytes). */
  readonly maxBytes: number;
}

interface NoAction extends Partial<Record<'run' | 'isOpen', undefined>> {
  readonly name: string | undefined;
  readonly maxBytes: number;
}

type Found = FoundAction | NoAction;

/** Finds an action among the matched routes. A form without a name, such as a plain HTML form, uses the page's `default`. */
function findAction({ runtime, pageRequest }: VisitorExchange, named: string | undefined): Found {
  const { pages, settings } = runtime.app;
  const { ids } = pageRequest.match;
  const name = named ?? `${ids.at(-1) ?? ''}.default`;
  const [routeId, key] = splitName(name);
  const page = ids.includes(routeId) ? pages[routeId] : undefined;
  const action = page?.actions && Object.hasOwn(page.actions, key) ? page.actions[key] : undefined;
  const maxBytes = settings.maxActionBytes;
  if (!page || !action) return { name: named, maxBytes };
  const isOpen = page.openActions?.includes(key) ?? false;
  return { name, routeId, page, isOpen, ...(typeof action === 'function' ? { run: action, maxBytes } : action) };
}

/** The largest form that an action of the page accepts (bytes). */
function findLargestLimit({ runtime: { app }, pageRequest }: VisitorExchange): number {
  const uploads = listUploads(app.pages, pageRequest.match.ids);
  return Math.max(app.settings.maxActionBytes, ...uploads.map(([, maxBytes]) => maxBytes));
}

function toResult(action: string, answer: unknown, form: FormData): ActionResult {
  if (answer instanceof Refusal) {
    return { action, status: answer.status, errors: answer.errors, values: toTypedValues(form) };
  }
  return { action, status: 200, ...(answer === undefined ? {} : { data: answer }) };
}
