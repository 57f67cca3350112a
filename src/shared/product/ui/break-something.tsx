import { type SubmitEvent, useState } from 'react';
import styles from './break-something.module.css';

/** Requests a page whose loader throws, and lists the addresses. Without JavaScript, the form opens that page. */
export function BreakSomething() {
  const [addresses, setAddresses] = useState<string[]>([]);

  async function request(event: SubmitEvent) {
    event.preventDefault();
    const response = await fetch('/tour/fail/loader');
    const address = response.headers.get('x-error-digest');
    if (address) setAddresses((before) => [...before, address].slice(-3));
  }

  return (
    <>
      <form action="/tour/fail/loader" onSubmit={request}>
        <button type="submit">Break something</button>
      </form>
      <ol className={styles.addresses} aria-label="Addresses" aria-live="polite">
        {addresses.map((address) => (
          <li key={address}>
            {/* A plain anchor, because the desk has its own routes. */}
            <a href={`/desk/${address.replace('-', '/')}`}>
              <strong>{address.split('-')[0]}</strong>-{address.split('-')[1]}
            </a>
          </li>
        ))}
        {addresses.length === 0 && <li className={styles.none}>No failure yet.</li>}
      </ol>
      <p>
        An address is all that visitors see. Click it to open its story in the desk. To sign in, use the link that the
        server printed when it started.
      </p>
    </>
  );
}
