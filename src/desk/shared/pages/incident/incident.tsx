import type { PageProps } from '#engine';
import type { IncidentData } from '../../page-data.ts';
import { PassingTime } from '../../ui/ago.tsx';
import { ChangeForms, Removal } from './change-forms.tsx';
import { Changes } from './changes.tsx';
import { Counts } from './counts.tsx';
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
