import { useRef } from 'react';
import { Link } from '../../../engine/routing/link.tsx';
import type { PageProps } from '../../../engine/routing/routes.ts';
import { Form, submitAs, useActionResult } from '../../actions.ts';
import { toListHref } from '../../href.ts';
import { News } from '../../live/news.tsx';
import { useHeld } from '../../live/use-held.ts';
import type { IncidentRow, IncidentsData } from '../../shapes.ts';
import { PassingTime } from '../../ui/passing-time.tsx';
import { Empty } from './empty.tsx';
import { Filters } from './filters.tsx';
import styles from './incidents.module.css';
import { KeyHelp } from './key-help.tsx';
import { Row } from './row.tsx';
import { Tabs } from './tabs.tsx';
import { useListKeys } from './use-list-keys.ts';

/** The list of incidents. */
export default function Incidents({ data }: PageProps<IncidentsData>) {
  const { view, rows, next, cursor } = data;
  const list = useRef<HTMLElement>(null);
  useListKeys(list);
  const { held, show } = useHeld(rows, list);
  const shown = toShownRows(held, data);
  return (
    <section ref={list} className={styles.page} aria-labelledby="title">
      <title>{view.search ? `${view.search} · Incidents · Desk` : 'Incidents · Desk'}</title>
      <div className={styles.top}>
        <h1 id="title">Incidents</h1>
        <Tabs view={view} totals={data.totals} />
        <Said />
        <KeyHelp canChange={data.operator.canChange} />
      </div>
      <Filters view={view} choices={data.choices} />
      <PassingTime since={data.now}>
        {shown.length === 0 ? <Empty of={data} /> : <List of={data} rows={shown} />}
      </PassingTime>
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
      <News
        words={toNews(shown, rows)}
        isQuiet={countNew(shown, rows) === 0}
        onShow={() => {
          show();
          // The button disappears, so the focus moves to the first incident.
          requestAnimationFrame(() => list.current?.querySelector<HTMLElement>('[data-open]')?.focus());
        }}
      />
    </section>
  );
}

/** A row that keeps its position while newer data arrive. */
interface ShownRow extends IncidentRow {
  /** The row is no longer in the list, for example because an operator changed it. */
  readonly hasLeft?: boolean;
}

/** Returns the rows in the shown order, with the newest data. */
function toShownRows(held: readonly IncidentRow[], { rows, next }: IncidentsData): readonly ShownRow[] {
  if (held === rows) return rows;
  const fresh = new Map(rows.map((row) => [row.digest, row]));
  // If there is a next page, the row can have moved there.
  const hasLeft = next === undefined;
  return held.map((row) => fresh.get(row.digest) ?? { ...row, hasLeft });
}

function toNews(shown: readonly ShownRow[], rows: readonly IncidentRow[]): string | undefined {
  const count = countNew(shown, rows);
  if (count > 0) return count === 1 ? '1 new incident' : `${count} new incidents`;
  const isSame = shown.length === rows.length && shown.every(({ digest }, index) => digest === rows[index]?.digest);
  return isSame ? undefined : 'the new order';
}

function countNew(shown: readonly ShownRow[], rows: readonly IncidentRow[]): number {
  const known = new Set(shown.map(({ digest }) => digest));
  return rows.filter(({ digest }) => !known.has(digest)).length;
}

interface ListProps {
  readonly of: IncidentsData;
  readonly rows: readonly ShownRow[];
}

function List({ of: { view, operator, now }, rows }: ListProps) {
  const list = (
    <ol className={styles.rows}>
      {rows.map((row) => (
        <Row
          key={row.digest}
          of={row}
          hasLeft={row.hasLeft ?? false}
          now={now}
          canChange={operator.canChange}
          span={view.span}
          environment={view.environment}
          tab={view.state}
        />
      ))}
    </ol>
  );
  if (!operator.canChange) return list;
  return (
    <Form preventScrollReset className={styles.form}>
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
