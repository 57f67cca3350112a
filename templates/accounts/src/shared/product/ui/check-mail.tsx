/** The same for known and unknown addresses, so that it does not reveal which accounts exist. */
export function CheckMail({ email }: { email: string }) {
  return (
    <article>
      <title>Check your mail</title>
      <h1>Check your mail</h1>
      <p role="status">
        We have sent a link to <strong>{email}</strong>. It works once, within an hour. If it does not arrive, look into
        your spam folder.
      </p>
    </article>
  );
}
