import type { Changed, DeskActions } from '../../../shared/desk/actions.ts';
import { IGNORE_CHOICES } from '../../../shared/desk/choices.ts';
import { toIncidentHref, toListHref, USUAL_VIEW } from '../../../shared/desk/href.ts';
import type { IncidentData } from '../../../shared/desk/shapes.ts';
import { notFound, redirect } from '../../../shared/engine/routing/control-flow.ts';
import { Day, Hour } from '../../../shared/units.ts';
import { type Address, parseAddress } from '../../engine/errors/parse-address.ts';
import {
  type ActingPage,
  type ActionArgs,
  invalid,
  type LoaderArgs,
  type LoadingPage,
  type Refusal,
} from '../../engine/pages/server-page.ts';
import { type CallKey, toCallKey } from '../store/incident-key.ts';
import type { ChangeOutcome, IncidentChange, StateChange } from '../store/incidents/change-incident.ts';
import { MAX_NOTE_LENGTH } from '../store/incidents/note-table.ts';
import { readIncident } from '../views/read-incident.ts';
import { toStandingWords } from '../views/standing-words.ts';
import { type DeskContext, operatorOf } from './context.ts';
import { findShown } from './find-shown.ts';
import { readVersion } from './incidents.ts';
import { readScope } from './read-view.ts';
import { unlessAway } from './unless-away.ts';

/** The longest name of an assignee (characters). */
const MAX_ASSIGNEE = 100;

export const incident = {
  loader: (args) => unlessAway(load(args)),

  version: ({ context }) => unlessAway(readVersion(context)),

  actions: {
    resolve(args) {
      const isForNext = args.form.get('when') === 'next';
      const words = isForNext ? 'Resolved in the next release.' : 'Resolved.';
      return change(args, { to: { state: 'resolved', in: isForNext ? 'next' : 'now' } }, words);
    },

    ignore(args) {
      const how = IGNORE_CHOICES.find(([value]) => value === args.form.get('how')) ?? IGNORE_CHOICES[0];
      return change(args, { to: toIgnored(how[0], Date.now()) }, `Ignored ${how[1]}.`);
    },

    reopen: (args) => change(args, { to: { state: 'open' } }, 'Reopened.'),

    assign(args) {
      const name = readText(args.form, 'assignee').slice(0, MAX_ASSIGNEE);
      return change(args, { assignee: name || null }, name ? `Assigned to ${name}.` : 'Unassigned.');
    },

    async addNote(args) {
      const { form, context } = args;
      const text = readText(form, 'note');
      if (text === '') return invalid({ errors: { note: 'Enter a note first.' } });
      if (text.length > MAX_NOTE_LENGTH) {
        return invalid({ errors: { note: `Please keep it below ${MAX_NOTE_LENGTH} characters.` } });
      }
      const added = await unlessAway(context.ask('addNote', toKey(args), text, operatorOf(context).name));
      return added ? { words: 'Note added.' } : notFound();
    },

    async removeNote({ form, context }) {
      await unlessAway(context.ask('deleteNote', Number(form.get('id')) || 0, operatorOf(context).name));
      return { words: 'Note deleted.' }; // even if it was deleted before
    },

    async merge(args) {
      const { form, url, context } = args;
      const into = parseAddress(readText(form, 'into'));
      if (!into)
        return invalid({
          errors: { into: 'This is not a digest. A digest has 8 letters and digits, such as 7K3QM2XA.' },
        });
      const author = operatorOf(context).name;
      const intoKey = toCallKey(into.digest, toEnvironment(url, context));
      const merged = await unlessAway(context.ask('mergeIncidents', toKey(args), intoKey, { author }));
      if (merged.outcome === 'unknown') return invalid({ errors: { into: 'No incident has this digest.' } });
      if (merged.outcome === 'nothing-to-do')
        return invalid({ errors: { into: 'Both are the same incident already.' } });
      redirect(toIncidentHref(merged.incident.digest, undefined, readScope(url)));
    },

    async separate({ form, url, context }) {
      const digest = parseAddress(readText(form, 'digest'))?.digest ?? notFound();
      const key = toCallKey(digest, toEnvironment(url, context));
      const apart = await unlessAway(context.ask('unmerge', key, { author: operatorOf(context).name }));
      return apart.outcome === 'unknown' ? notFound() : { words: `${digest} is a separate incident again.` };
    },

    async removeFeedback(args) {
      const { form, context } = args;
      const id = readText(form, 'id');
      await unlessAway(context.ask('deleteFeedback', toKey(args), id, operatorOf(context).name));
      return { words: 'Feedback deleted.' };
    },

    async removeOccurrence(args) {
      const { form, url, params, context } = args;
      const { digest } = toAddress(params);
      const { occurrence } = parseAddress(digest + readText(form, 'occurrence')) ?? {};
      if (occurrence === undefined) notFound();
      await unlessAway(context.ask('deleteOccurrence', toKey(args), occurrence, operatorOf(context).name));
      redirect(toIncidentHref(digest, undefined, readScope(url)));
    },

    async remove(args) {
      const { name: author } = operatorOf(args.context);
      await unlessAway(args.context.ask('deleteIncident', toKey(args), { author }));
      redirect(toListHref(USUAL_VIEW, { environment: readScope(args.url) }));
    },
  },
} satisfies LoadingPage<'incident', IncidentData, DeskContext> &
  ActingPage<'incident', DeskActions['incident'], DeskContext>;

async function load({ url, params, context }: LoaderArgs<DeskContext>): Promise<IncidentData> {
  const { ask, facts } = context;
  const { links, environment } = facts;
  const { name, role } = operatorOf(context);
  const shown = await findShown(toAddress(params), { params, scope: readScope(url), own: environment, ask });
  return {
    operator: { name, canChange: role === 'operator' },
    ...(await readIncident(shown, { ask, links, environment, now: Date.now() })),
  };
}

/** Reads the address from both parts of the path, or from the first part only. */
function toAddress({ digest = '', occurrence = '' }: LoaderArgs['params']): Address {
  return parseAddress(digest + occurrence) ?? notFound();
}

/** Returns the key of the page's incident. The URL names the environment if it is not the server's. */
function toKey({ url, params, context }: LoaderArgs<DeskContext>): CallKey {
  return toCallKey(toAddress(params).digest, toEnvironment(url, context));
}

function toEnvironment(url: URL, { facts }: DeskContext): string {
  return readScope(url) || facts.environment;
}

/** Returns an empty text if the form has no such field. */
function readText(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value.trim() : '';
}

type IgnoreChoice = (typeof IGNORE_CHOICES)[number][0];

const IGNORE_TIMES: Readonly<Partial<Record<IgnoreChoice, number>>> = { '1h': Hour, '24h': Day, '7d': 7 * Day };
const IGNORE_GROWTH: Readonly<Partial<Record<IgnoreChoice, number>>> = { '10': 10, '100': 100 };

function toIgnored(how: IgnoreChoice, now: number): StateChange {
  const time = IGNORE_TIMES[how];
  const growth = IGNORE_GROWTH[how];
  return {
    state: 'ignored',
    ...(time !== undefined && { until: now + time }),
    ...(growth !== undefined && { growth }),
  };
}

/** Applies a change. The later of two changes wins and reports which one it replaced. */
async function change(args: ActionArgs<DeskContext>, to: IncidentChange, words: string): Promise<Changed | Refusal> {
  const { form, context } = args;
  const author = operatorOf(context).name;
  const changed = await unlessAway(context.ask('changeIncident', toKey(args), to, { author }));
  if (changed.outcome !== 'changed') notFound();
  const overtook = toOvertaken(changed, readText(form, 'version'));
  return { words, ...(overtook !== undefined && { overtook }) };
}

/** @param seen the version that the form was rendered with; empty if unknown */
function toOvertaken({ before }: Extract<ChangeOutcome, { outcome: 'changed' }>, seen: string): string | undefined {
  if (seen === '' || seen === String(before.version)) return undefined;
  return `it was changed: ${toStandingWords(before)}`;
}
