import { notFound, publicError, redirect } from '#engine';
import { type ActionArgs, invalid, type LoaderArgs } from '#engine/server';
import { type ActingPage, type Address, type LoadingPage, parseAddress } from '#engine/tracker';
import type { Changed, DeskActions } from '../../shared/actions.ts';
import { IGNORE_CHOICES, MAX_NOTE_LENGTH } from '../../shared/choices.ts';
import { toIncidentHref, toListHref, USUAL_VIEW } from '../../shared/href.ts';
import type { IncidentData } from '../../shared/page-data.ts';
import { readScope } from '../read-view.ts';
import type { StateChange } from '../store/change-incident.ts';
import { type IncidentKey, toIncidentKey } from '../store/incident-key.ts';
import type { FoundIncident } from '../store/records.ts';
import { toDeletedWords } from '../views/present-history.ts';
import { presentIncident } from '../views/present-incident.ts';
import type { DeskCalls } from '../worker/desk-calls.ts';
import { canChange, type DeskContext, operatorOf } from './context.ts';
import { readDeskVersion } from './incidents.ts';

export const incident = {
  loader: load,

  version: ({ context }) => readDeskVersion(context),

  actions: {
    resolve(args) {
      const isForNext = args.form.get('when') === 'next';
      const words = isForNext ? 'Resolved in the next release.' : 'Resolved.';
      return change(args, { state: 'resolved', in: isForNext ? 'next' : 'now' }, words);
    },

    ignore(args) {
      const how = IGNORE_CHOICES.find(([value]) => value === args.form.get('how')) ?? IGNORE_CHOICES[0];
      const [, words, end] = how;
      const until = 'ms' in end ? { until: Date.now() + end.ms } : end;
      return change(args, { state: 'ignored', ...until }, `Ignored ${words}.`);
    },

    reopen: (args) => change(args, { state: 'open' }, 'Reopened.'),

    async addNote(args) {
      const { form, context } = args;
      const text = readText(form, 'note');
      if (text === '') return invalid({ errors: { note: 'Enter a note first.' } });
      if (text.length > MAX_NOTE_LENGTH) {
        return invalid({ errors: { note: `Please use at most ${MAX_NOTE_LENGTH} characters.` } });
      }
      const added = await context.calls.addNote(keyOf(args), text, operatorOf(context).name);
      return added ? { words: 'Note added.' } : notFound();
    },

    async removeNote({ form, context }) {
      await context.calls.deleteNote(Number(form.get('id')) || 0, operatorOf(context).name);
      return { words: 'Note deleted.' }; // even if it was deleted before
    },

    async removeOccurrence(args) {
      const { form, url, params, context } = args;
      const { digest } = toAddress(params);
      const { occurrence } = parseAddress(digest + readText(form, 'occurrence')) ?? {};
      if (occurrence === undefined) notFound();
      await context.calls.deleteOccurrence(keyOf(args), occurrence, operatorOf(context).name);
      redirect(toIncidentHref(digest, undefined, readScope(url)));
    },

    async remove(args) {
      const { name: author } = operatorOf(args.context);
      await args.context.calls.deleteIncident(keyOf(args), { author });
      redirect(toListHref(USUAL_VIEW, { environment: readScope(args.url) }));
    },
  },
} satisfies LoadingPage<'incident', IncidentData, DeskContext> &
  ActingPage<'incident', DeskActions['incident'], DeskContext>;

async function load({ url, params, context }: LoaderArgs<DeskContext>): Promise<IncidentData> {
  const { calls, facts } = context;
  const { environment } = facts;
  const asked = toAddress(params);
  const found = await findIncident(asked, readScope(url), calls);
  const { digest, key, environment: own } = found.incident;
  const occurrence = found.occurrence?.occurrence ?? asked.occurrence;
  const scope = own === environment ? '' : own;
  const isAsked = params.digest === digest && params.occurrence === occurrence;
  if (!isAsked || (readScope(url) || environment) !== own) redirect(toIncidentHref(digest, occurrence, scope));
  const details = await calls.readDetails(key, occurrence);
  const now = Date.now();
  return {
    now,
    canChange: canChange(context),
    scope,
    ...presentIncident(found, details, facts, now),
  };
}

/** @param scope the environment that the URL names. Empty if it names none, which allows any */
async function findIncident({ digest, occurrence }: Address, scope: string, calls: DeskCalls): Promise<FoundIncident> {
  const found = await calls.find(digest + (occurrence ?? ''), scope || undefined);
  if (found) return found;
  const deletion = await calls.readDeletion(digest, scope || undefined);
  return deletion ? publicError(410, toDeletedWords(deletion)) : notFound();
}

/** Reads the address from both parts of the path, or from the first part only. */
function toAddress({ digest = '', occurrence = '' }: LoaderArgs['params']): Address {
  return parseAddress(digest + occurrence) ?? notFound();
}

/** Returns the key of the page's incident. The URL names the environment if it is not the server's. */
function keyOf({ url, params, context }: LoaderArgs<DeskContext>): IncidentKey {
  return toIncidentKey(toAddress(params).digest, readScope(url) || context.facts.environment);
}

/** Returns an empty text if the form has no such field. Forms send line ends as CRLF. */
function readText(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value.replaceAll('\r\n', '\n').trim() : '';
}

/** Applies a change. The later of two simultaneous changes wins, and the history shows both. */
async function change(args: ActionArgs<DeskContext>, to: StateChange, words: string): Promise<Changed> {
  const { calls } = args.context;
  const { outcome } = await calls.changeState(keyOf(args), to, { author: operatorOf(args.context).name });
  return outcome === 'changed' ? { words } : notFound();
}
