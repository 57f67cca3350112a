import type { ActionOutcome, PageError } from '../../../shared/engine/wire/payload.ts';
import { readAction } from '../../../shared/engine/wire/protocol.ts';
import { toTypedValues } from './form-body.ts';
import { type Loaded, type LoadedPage, type LoadOptions, type PageTable, runGuards, untilEnd } from './load-page.ts';
import { forgetFound } from './once-per-request.ts';
import type { PageRequest } from './page-request.ts';
import { type LoaderArgs, Refusal, type ServerPage } from './server-page.ts';

/** What an action ended with. */
export type ActionResult =
  | Exclude<Loaded, LoadedPage>
  | { readonly kind: 'failed'; readonly routeId: string; readonly error: PageError }
  | { readonly kind: 'outcome'; readonly outcome: ActionOutcome };

export interface RunOptions extends Pick<LoadOptions, 'services' | 'pageRequest'> {
  readonly form: FormData;
}

/** Finds the action that a form names among the matched routes, and runs it behind their guards, unless it is an open one. */
export async function runAction({ services, pageRequest, form }: RunOptions): Promise<ActionResult> {
  const { pages, funnel } = services;
  const found = findAction(pageRequest, readAction(form), pages);
  if (!found.run) {
    const status = found.name === undefined ? 405 : 409;
    return {
      kind: 'outcome',
      outcome: { action: found.name ?? '', status, errors: { '': UNKNOWN_ACTION }, values: toTypedValues(form) },
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
    return { kind: 'outcome', outcome: toOutcome(found.name, await runFound(found, args, form), form) };
  } catch (error) {
    const verdict = funnel.fail(error, { ...pageRequest.describe('action', found.routeId), body: form });
    if (verdict.kind === 'visitor-gone') return { kind: 'gone' };
    if (verdict.kind === 'redirect') return verdict;
    // The error takes the place of the page, as it does in the browser: a layout still works if its action fails. An
    // open action runs for visitors whom the guards of the layout refuse, so there the layout may not be shown.
    const leaf = found.isOpen ? undefined : pageRequest.match.ids.at(-1);
    return { kind: 'failed', routeId: leaf ?? found.routeId, error: verdict.error };
  }
}

/** What the guards before an action see, and the action itself: a POST, whose body is the form. */
async function toPostArgs(pageRequest: PageRequest): Promise<LoaderArgs> {
  const { request, params, context, signal } = await pageRequest.toArgs();
  return { request: new Request(request, { method: 'POST' }), params, context, signal };
}

async function runFound(found: FoundAction, args: LoaderArgs, form: FormData): Promise<unknown> {
  try {
    return await found.run({ ...args, form });
  } finally {
    forgetFound(args.context); // the page around it is loaded anew, and shows what the action changed
  }
}

const UNKNOWN_ACTION =
  'This form belongs to another version of the site. Nothing was lost: reload the page, and send it again.';

type Action = NonNullable<ServerPage['actions']>[string];
interface FoundAction {
  readonly name: string;
  readonly routeId: string;
  readonly run: Action;
  /** No guard stands before it. */
  readonly isOpen: boolean;
}

/** Without a name the page's own action `default` is meant, as in a form that somebody wrote by hand. */
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

function toOutcome(action: string, answer: unknown, form: FormData): ActionOutcome {
  if (answer instanceof Refusal) {
    return { action, status: answer.status, errors: answer.errors, values: toTypedValues(form) };
  }
  return { action, status: 200, ...(answer === undefined ? {} : { data: answer }) };
}
