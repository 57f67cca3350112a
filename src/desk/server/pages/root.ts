import { forbidden, publicError, redirect, unauthorized } from '#engine';
import { invalid } from '#engine/server';
import type { ActingPage, LoadingPage, Refusal } from '#engine/tracker';
import type { DeskActions } from '../../shared/actions.ts';
import { DESK_PATH } from '../../shared/href.ts';
import type { RootData } from '../../shared/pages/root/root.tsx';
import { TICKET_KEY, TOO_MANY } from '../../shared/ticket.ts';
import type { Proof } from '../access/access.ts';
import type { SignedIn } from '../access/sign-in.ts';
import { AWAY } from '../store-words.ts';
import { canChange, type DeskContext, operatorOf } from './context.ts';
import { unlessAway } from './unless-away.ts';

/** Applies to every page of the desk. */
export const root = {
  guard({ request, context: { access } }) {
    if (access.isAway) publicError(503, AWAY);
    if (!access.operator) unauthorized();
    if (request.method === 'POST' && access.operator.role !== 'operator') forbidden();
  },

  async loader({ context }): Promise<RootData> {
    const { canSignOut } = context.access;
    // The pages below wait for the same. If the store is unavailable, they say so.
    const isSettled = await context.calls.settle().catch(() => false);
    return {
      name: operatorOf(context).name,
      canChange: canChange(context),
      canSignOut,
      environment: context.facts.environment,
      environments: await context.calls.listEnvironments(),
      release: context.facts.release,
      isArriving: !isSettled,
    };
  },

  async version({ context }) {
    const { name, role } = operatorOf(context);
    const environments = await context.calls.listEnvironments();
    return [name, role, context.facts.environment, context.facts.release, ...environments].join(' ');
  },

  openActions: ['signIn', 'signOut'],
  actions: {
    async signIn({ request, form, context }) {
      const proof = readProof(form);
      if (!proof) return invalid({ errors: { token: 'Enter a token.' } });
      const result = await unlessAway(context.access.signIn(proof));
      return result.kind === 'signed-in' ? redirect(toAsked(request.url)) : refuse(result, proof);
    },

    async signOut({ context }) {
      await unlessAway(context.access.signOut());
      redirect(DESK_PATH);
    },
  },
} satisfies LoadingPage<'root', RootData, DeskContext> & ActingPage<'root', DeskActions['root'], DeskContext>;

function readProof(form: FormData): Proof | undefined {
  const ticket = form.get(TICKET_KEY);
  if (typeof ticket === 'string' && ticket !== '') return { ticket };
  const token = form.get('token');
  return typeof token === 'string' && token.trim() !== '' ? { token: token.trim() } : undefined;
}

function refuse(result: Exclude<SignedIn, { kind: 'signed-in' }>, proof: Proof): Refusal {
  if (result.kind === 'too-many') publicError(429, TOO_MANY);
  const wrong =
    'ticket' in proof
      ? 'This link was already used or is older than 15 minutes. Enter a token, or ask for a new link.'
      : 'That token is not valid.';
  return invalid({ errors: { token: wrong } });
}

/** Returns the requested page without the ticket, which is used up and should not stay in the history. */
function toAsked(url: string): string {
  const { pathname, searchParams } = new URL(url);
  searchParams.delete(TICKET_KEY);
  return searchParams.size > 0 ? `${pathname}?${searchParams}` : pathname;
}
