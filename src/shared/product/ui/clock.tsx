/** The time of day on the server's clock, `12:40:01 UTC`. */
export function Clock({ id, at }: { id?: string; at: Date }) {
  return (
    <time id={id} dateTime={at.toISOString()}>
      {at.toISOString().slice(11, 19)}&nbsp;UTC
    </time>
  );
}
