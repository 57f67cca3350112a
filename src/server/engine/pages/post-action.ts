import type { Request as ExpressRequest, Response as ExpressResponse } from 'express';
import type { ActionOutcome } from '../../../shared/engine/wire/payload.ts';
import { ACTION_ACCEPT, NOT_FOUND_ROUTE } from '../../../shared/engine/wire/protocol.ts';
import { readForm } from './form-body.ts';
import { loadPage } from './load-page.ts';
import { sendActionData, sendRedirectData } from './page-data.ts';
import { type PageHouse, READ_METHODS, sendRedirect } from './page-house.ts';
import { type ActionResult, runAction } from './run-action.ts';
import { sendDocument } from './show-page.ts';
import type { Visit } from './visit.ts';

/**
 * Takes a form that was posted to a page. Without JavaScript the answer is 303, or the page again
 * with what was wrong and what was typed; with JavaScript it is the same as data.
 */
export async function postAction(
  house: PageHouse,
  visit: Visit,
  request: ExpressRequest,
  response: ExpressResponse,
): Promise<void> {
  const wantsData = request.headers.accept?.includes(ACTION_ACCEPT) ?? false;
  response.vary('Accept');
  let form: FormData;
  try {
    form = await readForm({ request, response, limit: house.maxActionBytes, bodies: house.bodies });
    visit.enter();
  } catch (error) {
    if (!request.complete) response.setHeader('Connection', 'close'); // what is left of the body is not read
    const verdict = house.funnel.fail(error, visit.describe('action'));
    if (verdict.kind !== 'error') return;
    const routeId = visit.match.ids.at(-1) ?? '';
    // With JavaScript the form stays as it is, so the page does not have to become an error page.
    if (wantsData && verdict.error.kind !== 'failure') {
      const outcome = {
        action: '',
        status: verdict.error.status,
        errors: { '': verdict.error.message ?? 'The form was refused.' },
      };
      return answer(house, visit, response, wantsData, { kind: 'outcome', outcome });
    }
    return answer(house, visit, response, wantsData, { kind: 'failed', routeId, error: verdict.error });
  }
  return answer(house, visit, response, wantsData, await runAction(visit, form, house.pages, house.funnel));
}

async function answer(
  house: PageHouse,
  visit: Visit,
  response: ExpressResponse,
  wantsData: boolean,
  result: ActionResult,
): Promise<void> {
  if (result.kind === 'gone') return;
  if (result.kind === 'redirect') return redirectTo(house, visit, response, wantsData, result.location, result.status);

  const outcome = result.kind === 'outcome' ? result.outcome : undefined;
  if (outcome?.status === 405 && visit.match.ids.at(-1) !== NOT_FOUND_ROUTE) {
    response.setHeader('Allow', READ_METHODS);
  }
  if (!wantsData && outcome && isDone(outcome)) {
    return redirectTo(house, visit, response, wantsData, visit.path + visit.search, 303);
  }
  const failed = result.kind === 'failed' ? result : undefined;
  const loaded = await loadPage({ visit, pages: house.pages, funnel: house.funnel, failed });
  if (loaded.kind === 'gone') return;
  if (loaded.kind === 'redirect') return redirectTo(house, visit, response, wantsData, loaded.location, loaded.status);
  if (wantsData) return sendActionData(house, visit, response, loaded, outcome);
  return sendDocument(house, visit, response, loaded, outcome);
}

/** It went well and has nothing to say: the page comes by GET, so that a reload does not post again. */
function isDone(outcome: ActionOutcome): boolean {
  return outcome.status === 200 && outcome.data === undefined;
}

function redirectTo(
  house: PageHouse,
  visit: Visit,
  response: ExpressResponse,
  wantsData: boolean,
  location: string,
  status: number,
): void {
  if (wantsData) sendRedirectData(house, visit, response, location);
  else sendRedirect(response, house, status, location);
}
