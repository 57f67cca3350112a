import { useTimings } from '../../ui/use-timings.ts';
import styles from './wire.module.css';

const SHOWN = 5;

/** The requests for page data that this document has made, as the browser measures them. */
export function Wire() {
  const requests = useTimings(isPageData);
  return (
    <div className={styles.wire}>
      <h3 id="wire">On the wire</h3>
      <div role="log" aria-labelledby="wire">
        <ol className={styles.requests}>
          {requests.slice(-SHOWN).map(({ name, startTime, duration }) => (
            <li key={`${name} ${startTime}`}>
              <span>{new URL(name).pathname}</span> {Math.round(duration)} ms
            </li>
          ))}
        </ol>
        {requests.length === 0 && <p>Nothing has been fetched yet. Point at a link.</p>}
      </div>
    </div>
  );
}

const isPageData = (path: string) => path.startsWith('/_data/');
