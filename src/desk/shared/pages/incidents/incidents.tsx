import { useRef } from 'react';
import { Link, type PageProps } from '#engine';
import { Form, submitAs, useActionResult } from '../../actions.ts';
import { STATE_WORDS, STATES } from '../../choices.ts';
import { toListHref } from '../../href.ts';
import type { IncidentsData } from '../../page-data.ts';
import { PassingTime } from '../../ui/ago.tsx';
import { toCount } from '../../words.ts';
import { Empty } from './empty.tsx';
import { Filters } from './filters.tsx';
import styles from './incidents.module.css';
import { KeyHelp, useListKeys } from './list-keys.tsx';
import { Row, RowHeads } from './row.tsx';

/** The list of incidents. */
export default function Incidents({ data }: PageProps<IncidentsData>) {
  const { view, rows, next, cursor } = data;
  const list = useRef<HTMLElement>(null);
  useListKeys(list);
  return (
    <section ref={list} className={styles.page} aria-labelledby="title">
      <title>{toTitle(view)}</title>
      <div className={styles.top}>
        <h1 id="title">Incidents</h1>
        <Tabs view={view} totals={data.totals} />
        <Said />
        <KeyHelp canChange={data.canChange} />
      </div>
      <Filters view={view} choices={data.choices} />
      <PassingTime since={data.now}>{rows.length === 0 ? <Empty of={data} /> : <List of={data} />}</PassingTime>
      {(next !== undefined || cursor !== undefined) && (
        <nav className={styles.pages} aria-label="Pages">
          {/* The titles of the pages are the same, so the fragment moves the focus. */}
          {cursor !== undefined && <Link to={`${toListHref(view)}#main`}>↑ First page</Link>}
          {next !== undefined && (
            <Link to={`${toListHref(view, { after: next })}#main`} rel="next">
              More incidents →
            </Link>
          )}
        </nav>
      )}
    </section>
  );
}

/** The title of each list differs, so that screen readers announce another one. */
function toTitle({ search, state }: IncidentsData['view']): string {
  const words = { ...STATE_WORDS, open: '', all: 'All' }[state];
  return [search, words, 'Incidents', 'Desk'].filter(Boolean).join(' · ');
}

/** The list by state. */
function Tabs({ view, totals }: Pick<IncidentsData, 'view' | 'totals'>) {
  return (
    <nav className={styles.tabs} aria-label="States">
      {([...STATES, 'all'] as const).map((state) => (
        <Link key={state} to={toListHref(view, { state })} aria-current={view.state === state ? 'page' : undefined}>
          {state === 'all' ? 'All' : STATE_WORDS[state]}
          {state !== 'all' && <span className={styles.total}>{toCount(totals[state])}</span>}
        </Link>
      ))}
    </nav>
  );
}

function List({ of: data }: { readonly of: IncidentsData }) {
  const { view, rows, canChange } = data;
  const list = (
    <div className={styles.rows}>
      <RowHeads canChange={canChange} />
      <ol>
        {rows.map((row) => (
          <Row key={row.digest} of={row} list={data} />
        ))}
      </ol>
    </div>
  );
  if (!canChange) return list;
  return (
    <Form preventScrollReset reset className={styles.form}>
      {list}
      <Bulk state={view.state} />
    </Form>
  );
}

/** Actions for the selected incidents. They appear when one is selected. */
function Bulk({ state }: { readonly state: IncidentsData['view']['state'] }) {
  return (
    <div className={styles.bulk}>
      <span className="quiet">With selected:</span>
      {state !== 'resolved' && (
        <button {...submitAs('incidents.resolve')} data-key="e">
          Resolve
        </button>
      )}
      {state !== 'ignored' && (
        <button {...submitAs('incidents.ignore')} data-key="i">
          Ignore
        </button>
      )}
      {state !== 'open' && <button {...submitAs('incidents.reopen')}>Reopen</button>}
    </div>
  );
}

/** Shown outside of the list, because the action can remove the list's last row. */
function Said() {
  const results = [
    useActionResult('incidents.resolve'),
    useActionResult('incidents.ignore'),
    useActionResult('incidents.reopen'),
  ];
  const result = results.find((said) => said !== undefined);
  return (
    <p className={styles.said} role="status">
      {result?.errors?.[''] && <strong className="bad">{result.errors['']}</strong>}
      {result?.data?.words}
    </p>
  );
}
