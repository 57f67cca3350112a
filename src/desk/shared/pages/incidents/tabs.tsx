import { Link } from '../../../../shared/routing/link.tsx';
import { toCount } from '../../../../shared/words.ts';
import { toListHref } from '../../href.ts';
import type { IncidentsData, ViewShape } from '../../page-data.ts';
import type { IncidentState } from '../../shapes.ts';
import { STATE_WORDS } from '../../words.ts';
import styles from './tabs.module.css';

interface TabsProps {
  readonly view: ViewShape;
  readonly totals: IncidentsData['totals'];
}

const STATES = ['open', 'resolved', 'ignored'] as const satisfies readonly IncidentState[];

/** The list by state. */
export function Tabs({ view, totals }: TabsProps) {
  return (
    <nav className={styles.tabs} aria-label="States">
      {STATES.map((state) => (
        <Tab key={state} view={view} state={state} words={STATE_WORDS[state]} total={totals[state]} />
      ))}
      <Tab view={view} state="all" words="All" total={undefined} />
    </nav>
  );
}

interface TabProps {
  readonly view: ViewShape;
  readonly state: ViewShape['state'];
  readonly words: string;
  readonly total: number | undefined;
}

function Tab({ view, state, words, total }: TabProps) {
  return (
    <Link to={toListHref(view, { state })} aria-current={view.state === state ? 'page' : undefined}>
      {words}
      {total !== undefined && <span className={styles.total}>{toCount(total)}</span>}
    </Link>
  );
}
