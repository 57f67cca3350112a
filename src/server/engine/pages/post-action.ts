import type { ActionOutcome } from '../../../shared/engine/wire/payload.ts';
import { ACTION_ACCEPT, NOT_FOUND_ROUTE } from '../../../shared/engine/wire/protocol.ts';
import { readForm } from './form-body.ts';
import { loadPage } from './load-page.ts';
import { sendActionData, sendRedirectData } from './page-data.ts';
import { type PageExchange, READ_METHODS, type Redirect, sendRedirect } from './page-services.ts';
import { type ActionResult, runAction } from './run-action.ts';
import { sendDocument } from './show-page.ts';

/**
 * Takes a form that was posted to a page. Without JavaScript the answer is 303, or the page again
 * with what was wrong and what was typed; with JavaScript it is the same as data.
 */
export async function postAction(exchange: PageExchange): Promise<void> {
  const { services, pageRequest, response } = exchange;
  const wantsData = response.req.headers.accept?.includes(ACTION_ACCEPT) ?? false;
  response.vary('Accept');
  const result = await takeForm(exchange, wantsData);
  if (result.kind === 'gone') return;
  if (result.kind === 'redirect') return redirectTo(exchange, wantsData, result);

  const outcome = result.kind === 'outcome' ? result.outcome : undefined;
  if (outcome?.status === 405 && pageRequest.match.ids.at(-1) !== NOT_FOUND_ROUTE) {
    response.setHeader('Allow', READ_METHODS);
  }
  if (!wantsData && outcome && isDone(outcome)) {
    return sendRedirect(exchange, { status: 303, location: pageRequest.path + pageRequest.search });
  }
  const failed = result.kind === 'failed' ? result : undefined;
  const loaded = await loadPage({ services, pageRequest, failed });
  if (loaded.kind === 'gone') return;
  if (loaded.kind === 'redirect') return redirectTo(exchange, wantsData, loaded);
  if (wantsData) return sendActionData(exchange, loaded, outcome);
  return sendDocument(exchange, loaded, outcome);
}

/** Reads the form, and runs the action that it names. */
async function takeForm({ services, pageRequest, response }: PageExchange, wantsData: boolean): Promise<ActionResult> {
  const { maxActionBytes: limit, bodies, funnel } = services;
  const { req: request } = response;
  let form: FormData;
  try {
    form = await readForm({ request, response, limit, bodies });
    pageRequest.enter();
  } catch (error) {
    if (!request.complete) response.setHeader('Connection', 'close'); // what is left of the body is not read
    const verdict = funnel.fail(error, pageRequest.describe('action'));
    if (verdict.kind !== 'error') return { kind: 'gone' };
    const { status, message = 'The form was refused.', kind } = verdict.error;
    // With JavaScript the form stays as it is, so the page does not have to become an error page.
    if (wantsData && kind !== 'failure') {
      return { kind: 'outcome', outcome: { action: '', status, errors: { '': message } } };
    }
    return { kind: 'failed', routeId: pageRequest.match.ids.at(-1) ?? '', error: verdict.error };
  }
  return runAction({ services, pageRequest, form });
}

/** It went well and has nothing to say: the page comes by GET, so that a reload does not post again. */
function isDone(outcome: ActionOutcome): boolean {
  return outcome.status === 200 && outcome.data === undefined;
}

function redirectTo(exchange: PageExchange, wantsData: boolean, redirect: Redirect): void {
  if (wantsData) sendRedirectData(exchange, redirect.location);
  else sendRedirect(exchange, redirect);
}
