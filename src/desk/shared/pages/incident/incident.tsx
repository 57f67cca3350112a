import type { PageProps } from '#engine';
import type { IncidentData } from '../../page-data.ts';
import { Ago, PassingTime } from '../../ui/ago.tsx';
import { Chart } from '../../ui/chart.tsx';
import { Panel } from '../../ui/panel.tsx';
import { toCount } from '../../words.ts';
import { ChangeForms, Removal } from './change-forms.tsx';
import { Changes } from './changes.tsx';
import { Head } from './head.tsx';
import styles from './incident.module.css';
import { OccurrenceView, Recent } from './occurrence/occurrence-view.tsx';

/** An incident with one of its occurrences. */
export default function Incident({ data }: PageProps<IncidentData>) {
  const { now, canChange } = data;
  return (
    <PassingTime since={now}>
      <article className={styles.incident}>
        <title>{`${data.title || data.digest} · Desk`}</title>
        <Head of={data} />
        {canChange && <ChangeForms of={data} />}
        <div className={styles.columns}>
          <div className={styles.main}>
            <OccurrenceView of={data} />
          </div>
          <div className={styles.side}>
            <Counts of={data} />
            <Changes of={data} />
            <Recent of={data} />
            {canChange && <Removal of={data} />}
          </div>
        </div>
      </article>
    </PassingTime>
  );
}

/** Counts over time and by release. */
function Counts({ of: { day, fortnight, marks, releases, now } }: { readonly of: IncidentData }) {
  return (
    <Panel title="How often">
      <h3 className={styles.span}>24 hours</h3>
      <Chart of={day} span="24 hours" marks={marks} />
      <h3 className={styles.span}>14 days</h3>
      <Chart of={fortnight} span="14 days" marks={marks} />
      {releases.length > 0 && (
        <table className={styles.releases}>
          <thead>
            <tr>
              <th scope="col">Release</th>
              <th scope="col">Times</th>
              <th scope="col">First</th>
              <th scope="col">Last</th>
            </tr>
          </thead>
          <tbody>
            {releases.toReversed().map(({ release, build, firstAt, lastAt, count, isRegression }) => (
              <tr key={release + build}>
                <th scope="row" title={`Build ${build}`}>
                  {release || 'unknown'}
                  {isRegression && <span className={styles.regression}> regressed here</span>}
                </th>
                <td>{toCount(count)}</td>
                <td>
                  <Ago at={firstAt} now={now} />
                </td>
                <td>
                  <Ago at={lastAt} now={now} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}
