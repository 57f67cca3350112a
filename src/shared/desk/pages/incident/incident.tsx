import type { PageProps } from '../../../engine/routes.ts';
import type { IncidentData } from '../../shapes.ts';
import { Panel } from '../../ui/panel.tsx';
import { PassingTime } from '../../ui/passing-time.tsx';
import { ChangeForms } from './change-forms.tsx';
import { Changes } from './changes.tsx';
import { Counts } from './counts.tsx';
import { Feedback } from './feedback.tsx';
import { Head } from './head.tsx';
import styles from './incident.module.css';
import { Occurrence, Recent } from './occurrence.tsx';
import { Removal } from './removal.tsx';
import { Similar } from './similar.tsx';

/** What an action says it has done. */
export interface Changed {
  readonly words: string;
  /** What somebody else had done meanwhile, and this went over. */
  readonly overtook?: string;
}

export interface IncidentActions {
  resolve(): Changed;
  ignore(): Changed;
  reopen(): Changed;
  assign(): Changed;
  addNote(): Changed;
  removeNote(): Changed;
  /** Leads to the other one. */
  merge(): undefined;
  separate(): Changed;
  removeFeedback(): Changed;
  removeOccurrence(): undefined;
  remove(): undefined;
}

/** One incident, and one time that it happened. */
export default function Incident({ data }: PageProps<IncidentData>) {
  const { now, operator } = data;
  return (
    <PassingTime since={now}>
      <article className={styles.incident}>
        <title>{`${data.title || data.digest} · Desk`}</title>
        <Head of={data} />
        {operator.canChange && <ChangeForms of={data} />}
        <div className={styles.columns}>
          <div className={styles.main}>
            <Occurrence of={data} />
          </div>
          <div className={styles.side}>
            <Counts of={data} />
            {data.feedback.length > 0 && (
              <Feedback of={data.feedback} now={now} canRemove={operator.canChange} version={data.version} />
            )}
            <Changes of={data} />
            <Recent of={data} />
            {data.similar.length > 0 && (
              <Panel title="Similar incidents">
                <Similar of={data.similar} now={now} />
              </Panel>
            )}
            {operator.canChange && <Removal of={data} />}
          </div>
        </div>
      </article>
    </PassingTime>
  );
}
