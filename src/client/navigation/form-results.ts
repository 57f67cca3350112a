import { type DataStrategyResult, data } from 'react-router';
import type { EngineText } from '../../shared/rendering/language.ts';
import { toShownError } from '../../shared/rendering/page-error.ts';
import { MAX_ACTION_BYTES } from '../../shared/shared-limits.ts';
import type { ActionResult, PagePayload } from '../../shared/wire/payload.ts';
import { ACTION_FIELD, readAction } from '../../shared/wire/protocol.ts';
import { toSize } from '../../shared/words.ts';
import { type PageDataResult, readPageData } from '../page-data/fetch-page-data.ts';
import { leaveOldBuild } from './load-document.ts';
import {
  type PageEvents,
  type PageResults,
  type PageSources,
  type Results,
  type ShownPage,
  toErrorResult,
  type Wanted,
} from './page-results.ts';
import { keepPageState } from './page-state.ts';
import { postForm, sendsMultipart, toFileBytes } from './post-form.ts';

interface FormResultsOptions
  extends Pick<ShownPage, 'toText'>,
    Pick<PageEvents, 'onFailure' | 'onSend' | 'onAnswer'>,
    Pick<PageResults, 'redirect'> {}

/** Creates the functions that send a form, and keep the page data that its action returned for the router's next load. */
export function createFormResults(
  { build, store }: Pick<PageSources, 'build' | 'store'>,
  { toText, redirect, onFailure, onSend, onAnswer }: FormResultsOptions,
) {
  let fresh: { readonly url: string; readonly payload: PagePayload } | undefined;
  /** Answers to forms so far (count). */
  let answers = 0;

  async function act(wanted: Wanted): Promise<Results> {
    const { request, url, form, leaf } = wanted;
    const isFetcher = wanted.fetcherKey !== null;
    const action = readAction(form) ?? '';
    const isTyped = [...(form ?? [])].some(([name, value]) => name !== ACTION_FIELD && typeof value === 'string');
    const refuse = (message: string, status = 503) => {
      const note = isTyped ? ` ${toText('What you typed is still here.')}` : '';
      return { [leaf]: toActionData({ action, status, errors: { '': message + note } }) };
    };
    const page = store.recall(url)?.payload;
    const limit = page?.uploads?.[action || `${leaf}.default`] ?? MAX_ACTION_BYTES;
    if (page && toFileBytes(request, form) > limit) {
      return refuse(
        toText('This is more than {size}. Choose smaller files, or shorten the text.', { size: toSize(limit) }),
        413,
      );
    }
    // Also now: the server carries out a form that the visitor leaves.
    store.dropAll();
    if (!isFetcher) onSend();
    const before = answers;
    let result: PageDataResult;
    try {
      const response = await postForm(url, { request, form, showsProgress: !isFetcher });
      result = await readPageData(response, request.signal);
    } catch (error) {
      store.dropAll();
      if (request.signal.aborted) throw error;
      onFailure(error, 'network');
      const { message, status, digest } = toShownError(error);
      if (message) return refuse(toText(message as EngineText), status); // of the engine, or as the product wrote it
      if (digest) return refuse(toText('Something went wrong on our side (digest {digest}).', { digest }), status);
      const unsent = sendsMultipart(request)
        ? 'The form was not sent. Check your connection and the size of your files, then send it again.'
        : 'The form was not sent. Check your connection, then send it again.';
      return refuse(toText(unsent));
    }
    if (result.kind === 'busy') {
      return refuse(
        toText('The server is busy at the moment, so your form was not processed. Send it again in a few seconds.'),
      );
    }
    store.dropAll(); // the action can have changed all data that was fetched before
    answers += 1;
    if (!isFetcher) onAnswer(isTaken(result));
    if (result.kind === 'redirect') {
      if (result.payload.unsent) keepPageState();
      return redirect(result.payload, wanted);
    }
    if (result.kind !== 'page') return toErrorResult(leaf, new Error(`The form was answered "${result.kind}".`));
    const { payload } = result;
    if (payload.errors && !isTaken(result)) keepPageState(); // an error replaces the page
    if (payload.build !== build && (payload.action || isTaken(result))) await leaveOldBuild(result, wanted);
    // If the action answered, its result is shown together with the page's error, which the load brings.
    const failed = payload.action ? undefined : Object.values(payload.errors ?? {})[0];
    if (failed) return { [leaf]: { type: 'error', result: failed } };
    // If another form was answered meanwhile, this page can be older than what that answer showed.
    if (payload.build === build && answers === before + 1) {
      fresh = { url, payload };
      store.remember(url, { payload: { ...payload, action: undefined }, etag: undefined });
    }
    return { [leaf]: toActionData({ status: 200, ...payload.action, action: payload.action?.action || action }) };
  }

  return {
    act,
    /** Whether the last action returned the data of this page. That of another page gets stale from here on: it is dropped. */
    hasFresh(url: string): boolean {
      if (fresh?.url !== url) fresh = undefined;
      return fresh !== undefined;
    },
    /** Returns that data, once. */
    takeFresh(): PagePayload | undefined {
      const brought = fresh;
      fresh = undefined;
      return brought?.payload;
    },
  };
}

/** True if the action neither refused nor failed, even if the page around it did. */
function isTaken(result: PageDataResult): boolean {
  if (result.kind !== 'page') return result.kind === 'redirect';
  const { action, errors } = result.payload;
  return action ? !action.errors : !errors;
}

function toActionData(result: ActionResult): DataStrategyResult {
  return { type: 'data', result: data(result, { status: result.status }) };
}
