/** The same text on each call. Every third sentence has wide characters. */
export function Prose({ title, paragraphs }: { title: string; paragraphs: number }) {
  return (
    <article>
      <title>{title}</title>
      <h1>{title}</h1>
      {Array.from({ length: paragraphs }, (_, index) => (
        <p key={String(index)}>
          {`${index + 1}. We measure water levels at many rivers, and publish them within a minute. Lines follow the
          river from its source to its mouth. ${index % 3 ? 'Most of them have one station.' : 'Größen: 5 ★, 水位, Ελλάδα.'}`}
        </p>
      ))}
    </article>
  );
}
