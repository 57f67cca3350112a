import { useRef } from 'react';
import type { PageProps } from '../../../engine/routing/routes.ts';
import { News } from '../../live/news.tsx';
import { useHeld } from '../../live/use-held.ts';
import type { IncidentData } from '../../shapes.ts';
import { Panel } from '../../ui/panel.tsx';
import { PassingTime } from '../../ui/passing-time.tsx';
import { ChangeForms } from './change-forms.tsx';
import { Changes } from './changes.tsx';
import { Counts } from './counts.tsx';
import { Feedback } from './feedback.tsx';
import { Head } from './head.tsx';
import styles from './incident.module.css';
import { Occurrence, Recent } from './occurrence/occurrence.tsx';
import { Removal } from './removal.tsx';
import { Similar } from './similar.tsx';

/** An incident with one of its occurrences. */
export default function Incident({ data }: PageProps<IncidentData>) {
  const { now, operator } = data;
  const article = useRef<HTMLElement>(null);
  const { held, show } = useHeld(data, article);
  const story = { ...held, now, operator, version: data.version };
  return (
    <PassingTime since={now}>
      <article ref={article} className={styles.incident}>
        <title>{`${data.title || data.digest} · Desk`}</title>
        <Head of={data} />
        {operator.canChange && <ChangeForms of={data} />}
        <div className={styles.columns}>
          <div className={styles.main}>
            <Occurrence of={story} />
          </div>
          <div className={styles.side}>
            <Counts of={data} />
            {story.feedback.length > 0 && (
              <Feedback of={story.feedback} now={now} canRemove={operator.canChange} version={data.version} />
            )}
            <Changes of={story} />
            <Recent of={story} />
            {story.similar.length > 0 && (
              <Panel title="Similar incidents">
                <Similar of={story.similar} scope={data.scope} now={now} />
              </Panel>
            )}
            {operator.canChange && <Removal of={data} />}
          </div>
        </div>
        <News words={toNews(held, data)} onShow={show} />
      </article>
    </PassingTime>
  );
}

/** Names the new content that waits behind a button. Counts and state are updated immediately. */
function toNews(held: IncidentData, data: IncidentData): string | undefined {
  if (held === data) return undefined;
  const news = [
    held.recent[0]?.occurrence !== data.recent[0]?.occurrence && 'the latest occurrence',
    held.feedback[0]?.id !== data.feedback[0]?.id && 'new feedback',
    held.changes[0]?.id !== data.changes[0]?.id && 'new activity',
  ].filter((words) => words !== false);
  return news.length > 0 ? new Intl.ListFormat('en').format(news) : undefined;
}
