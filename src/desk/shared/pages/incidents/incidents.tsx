import { useRef } from 'react';
import { Link, type PageProps } from '#engine';
import { Form, submitAs, useActionResult } from '../../actions.ts';
import { STATE_WORDS, STATES } from '../../choices.ts';
import { toListHref } from '../../href.ts';
import type { IncidentsData, ViewShape } from '../../page-data.ts';
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
      <title>{view.search ? `${view.search} · Incidents · Desk` : 'Incidents · Desk'}</title>
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
          {cursor !== undefined && <Link to={toListHref(view)}>↑ First page</Link>}
          {next !== undefined && (
            <Link to={toListHref(view, { after: next })} rel="next">
              More incidents →
            </Link>
          )}
        </nav>
      )}
    </section>
  );
}

interface TabsProps {
  readonly view: ViewShape;
  readonly totals: IncidentsData['totals'];
}

/** The list by state. */
function Tabs({ view, totals }: TabsProps) {
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

function List({ of: { view, rows, canChange, now } }: { readonly of: IncidentsData }) {
  const list = (
    <div className={styles.rows}>
      <RowHeads canChange={canChange} span={view.span} />
      <ol>
        {rows.map((row) => (
          <Row
            key={row.digest}
            of={row}
            now={now}
            canChange={canChange}
            span={view.span}
            environment={view.environment}
            tab={view.state}
          />
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
      <span className={styles.ticked}>With selected:</span>
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
      {result?.errors?.[''] && <strong className={styles.refused}>{result.errors['']}</strong>}
      {result?.data?.words}
    </p>
  );
}
