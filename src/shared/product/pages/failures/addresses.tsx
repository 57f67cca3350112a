import { type SubmitEvent, useState } from 'react';
import styles from './failures.module.css';

/** Makes an API handler throw, and collects the addresses of its answers. */
export function Addresses() {
  const [addresses, setAddresses] = useState<string[]>([]);

  async function fail(event: SubmitEvent) {
    event.preventDefault();
    const response = await fetch('/api/tour/fail');
    const address = response.headers.get('x-error-digest');
    if (address) setAddresses((before) => [...before, address].slice(-4));
  }

  return (
    <>
      <form action="/api/tour/fail" onSubmit={fail}>
        <button type="submit">Make a handler throw</button>
      </form>
      <ol className={styles.addresses} aria-label="Addresses" aria-live="polite">
        {addresses.map((address) => (
          <li key={address}>
            {/* A plain anchor: the desk is no page of these routes. */}
            <a href={`/desk/${address.replace('-', '/')}`}>
              <strong>{address.split('-')[0]}</strong>-{address.split('-')[1]}
            </a>
          </li>
        ))}
        {addresses.length === 0 && <li className={styles.none}>No address yet.</li>}
      </ol>
      <p>
        The first half names the kind of failure: it is the same each time, after a restart and on every replica. The
        second half names this one time. Each leads to its story in <a href="/desk">the desk</a>, for whom the link of
        the first start or a token lets in; both stand in the log too.
      </p>
    </>
  );
}
