import type { ReactNode } from 'react';

/** A page that only says something, such as the result of a form. */
export function Message({ title, children }: { title: string; children: ReactNode }) {
  return (
    <article>
      <title>{title}</title>
      <h1>{title}</h1>
      <p role="status">{children}</p>
    </article>
  );
}

/** The same for known and unknown addresses, so that it does not reveal which accounts exist. */
export function CheckMail({ email }: { email: string }) {
  return (
    <Message title="Check your mail">
      If you can use <strong>{email}</strong>, you have a mail with a link. It works once, within an hour. If it does
      not arrive, look into your spam folder.
    </Message>
  );
}
