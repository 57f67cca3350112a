import { useTimings } from '../../ui/use-timings.ts';
import styles from './wire.module.css';

const SHOWN = 5;

/** Lists the latest requests for page data, as the browser measured them. */
export function Wire() {
  const requests = useTimings(isPageData);
  return (
    <div className={styles.wire}>
      <h3 id="wire">Requests for page data</h3>
      <div role="log" aria-labelledby="wire">
        <ol className={styles.requests}>
          {requests.slice(-SHOWN).map(({ name, startTime, duration }) => (
            <li key={`${name} ${startTime}`}>
              <span>{new URL(name).pathname}</span> {Math.round(duration)} ms
            </li>
          ))}
        </ol>
        {requests.length === 0 && <p>No requests yet. Point at a link.</p>}
      </div>
    </div>
  );
}

const isPageData = (path: string) => path.startsWith('/_data/');
