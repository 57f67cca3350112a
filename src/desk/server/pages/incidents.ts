import { redirect } from '#engine';
import { type ActionArgs, invalid, type LoaderArgs } from '#engine/server';
import { type ActingPage, type LoadingPage, parseAddress, type Refusal } from '#engine/tracker';
import { Hour } from '../../../shared/units.ts';
import type { Changed, DeskActions } from '../../shared/actions.ts';
import { isFiltered, toIncidentHref } from '../../shared/href.ts';
import type { IncidentsData } from '../../shared/page-data.ts';
import { toPlural } from '../../shared/words.ts';
import { defined } from '../defined.ts';
import { readScope, readView, toFilter } from '../read-view.ts';
import type { StateChange } from '../store/change-incident.ts';
import { parseCursor } from '../store/cursor.ts';
import { toIncidentKey } from '../store/incident-key.ts';
import type { ListedIncident } from '../store/list-incidents.ts';
import { presentIncidentRow } from '../views/present-incident-row.ts';
import { canChange, type DeskContext, operatorOf } from './context.ts';

/** Incidents on a page (a count). */
const ROWS = 50;
/** The most incidents that one form changes (a count): all on a page. */
const MAX_TICKED = ROWS;
/** The most choices of a filter (a count). */
const MAX_CHOICES = 100;

export const incidents = {
  loader: load,

  version: ({ context }) => readDeskVersion(context),

  actions: {
    resolve: (args) => changeTicked(args, { state: 'resolved', in: 'now' }, 'resolved'),
    ignore: (args) => changeTicked(args, { state: 'ignored' }, 'ignored'),
    reopen: (args) => changeTicked(args, { state: 'open' }, 'reopened'),
  },
} satisfies LoadingPage<'incidents', IncidentsData, DeskContext> &
  ActingPage<'incidents', DeskActions['incidents'], DeskContext>;

/**
 * Returns a version that changes with everything stored, with the operator, and each hour, because the charts move on.
 */
export async function readDeskVersion(context: DeskContext): Promise<string> {
  const { name, role } = operatorOf(context);
  return [await context.calls.readChanges(), Math.floor(Date.now() / Hour), role, name].join(' ');
}

async function load({ url, context }: LoaderArgs<DeskContext>): Promise<IncidentsData> {
  const now = Date.now();
  const view = readView(url.searchParams);
  if (view.search !== '') await goStraight(view.search, context);
  const asked = url.searchParams.get('after') ?? '';
  const cursor = parseCursor(asked, view.sort) ? asked : undefined;
  const filter = toFilter(view, { now, environment: context.facts.environment });
  const [page, totals, builds] = await Promise.all([
    context.calls.listIncidents({ ...filter, limit: ROWS, cursor }),
    context.calls.countStates(filter),
    context.calls.listDeployments(filter.environment),
  ]);
  return defined({
    now,
    canChange: canChange(context),
    view,
    rows: page.incidents.map(presentIncidentRow),
    totals,
    choices: toChoices(
      page.incidents,
      builds.map(({ release }) => release),
    ),
    next: page.next,
    cursor,
    isNew: !isFiltered(view) && Object.values(totals).every((count) => count === 0),
  });
}

/** Redirects a search for a digest, an address, a request id or a trace id to its incident. */
async function goStraight(text: string, { calls, facts }: DeskContext): Promise<void> {
  const found = await calls.resolveQuery(text);
  if (!found) return;
  const { digest, environment, occurrence } = found;
  redirect(toIncidentHref(digest, occurrence, environment, facts.environment));
}

/** Collects choices from the shown incidents and the started releases, because a query for all values would be slow. */
function toChoices(shown: readonly ListedIncident[], releases: readonly string[]): IncidentsData['choices'] {
  return {
    routes: unique(shown.flatMap(({ route }) => route ?? [])).sort(),
    releases: unique([...releases, ...shown.map(({ lastRelease }) => lastRelease)]),
  };
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)].filter((value) => value !== '').slice(0, MAX_CHOICES);
}

/** Changes each incident separately: one that was deleted in the meantime does not stop the others. */
async function changeTicked(
  { form, url, context }: ActionArgs<DeskContext>,
  to: StateChange,
  done: string,
): Promise<Changed | Refusal> {
  const ticked = form
    .getAll('digest')
    .flatMap((value) => (typeof value === 'string' ? (parseAddress(value) ?? []) : []));
  if (ticked.length === 0) return invalid({ errors: { '': 'Select an incident first.' } });
  const author = operatorOf(context).name;
  const environment = readScope(url) || context.facts.environment;
  const keys = [...new Set(ticked.map(({ digest }) => toIncidentKey(digest, environment)))];
  const outcomes = await Promise.all(
    keys.slice(0, MAX_TICKED).map((key) => context.calls.changeState(key, to, { author })),
  );
  const changed = outcomes.filter(({ outcome }) => outcome === 'changed').length;
  const gone = outcomes.length - changed;
  const rest = gone > 0 ? ` ${toPlural(gone, 'was', 'were')} already deleted.` : '';
  return { words: `${toPlural(changed, 'incident')} ${done}.${rest}` };
}
