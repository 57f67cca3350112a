import { Await, useData } from '#engine';
import type { shell } from '#product-server/pages/shell.ts';
import styles from './shell.module.css';

export function Visit() {
  const { visit } = useData<typeof shell>();
  return (
    <section className={styles.visit} id="visit" aria-label="For you">
      <Await value={visit} fallback={<p>Looking at your request…</p>}>
        {({ languages, visits, shells }) => (
          <>
            <p>
              For you: your browser asks for <strong>{languages}</strong>
            </p>
            <p>
              The hole was filled <strong>{visits}</strong> {visits === 1 ? 'time' : 'times'}, the shell was rendered{' '}
              <strong>{shells}</strong> {shells === 1 ? 'time' : 'times'}.
            </p>
          </>
        )}
      </Await>
    </section>
  );
}
