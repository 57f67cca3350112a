import type { ActionResult } from '../../../../shared/engine/wire/payload.ts';
import { ACTION_ACCEPT, NOT_FOUND_ROUTE } from '../../../../shared/engine/wire/protocol.ts';
import { loadPage } from '../load-page.ts';
import type { Redirect } from '../loaded.ts';
import { type PageExchange, READ_METHODS, sendRedirect, type VisitorExchange } from '../page-response.ts';
import { sendActionData, sendRedirectData } from '../render/page-data.ts';
import { sendDocument } from '../render/show-page.ts';
import { readForm } from './form-body.ts';
import { applyResponseCookies } from './response-cookies.ts';
import { type ActionEnd, runAction } from './run-action.ts';

/**
 * Handles a form that was posted to a page. Without JavaScript the response is 303, or the page with the errors and
 * what was typed. With JavaScript it is the same as data.
 */
export async function postAction(exchange: VisitorExchange): Promise<void> {
  const { services, pageRequest, response } = exchange;
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
  const loaded = await loadPage({ services, pageRequest, failed });
  if (loaded.kind === 'gone') return;
  if (loaded.kind === 'redirect') return redirectTo(exchange, wantsData, loaded);
  if (wantsData) return sendActionData(exchange, loaded, result);
  return sendDocument(exchange, loaded, result);
}

/** Reads the form and runs its action. */
async function takeForm({ services, pageRequest, response }: PageExchange, wantsData: boolean): Promise<ActionEnd> {
  const { maxActionBytes: limit, funnel } = services;
  const { req: request } = response;
  let form: FormData;
  try {
    form = await readForm({ request, response, limit });
    pageRequest.enter();
  } catch (error) {
    const disposition = funnel.fail(error, pageRequest.describe('action'));
    if (disposition.kind !== 'error') return { kind: 'gone' };
    const { status, message = 'The form was not accepted.', kind } = disposition.error;
    // With JavaScript the form stays on the page, which does not become an error page.
    if (wantsData && kind !== 'failure') {
      return { kind: 'result', result: { action: '', status, errors: { '': message } } };
    }
    return { kind: 'failed', routeId: pageRequest.match.ids.at(-1) ?? '', error: disposition.error };
  }
  return runAction({ services, pageRequest, form });
}

/** The action succeeded and returned nothing, so a redirect avoids a second post on reload. */
function isDone(result: ActionResult): boolean {
  return result.status === 200 && result.data === undefined;
}

function redirectTo(exchange: PageExchange, wantsData: boolean, redirect: Redirect): void {
  if (wantsData) sendRedirectData(exchange, redirect.location);
  else sendRedirect(exchange, redirect);
}
