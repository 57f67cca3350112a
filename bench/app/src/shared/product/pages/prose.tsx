/** 6 kB. Every third paragraph has wide characters. */
export default function Prose() {
  return (
    <main id="main">
      <title>Prose</title>
      <h1>Prose</h1>
      {Array.from({ length: 30 }, (_, index) => (
        <p key={String(index)}>
          {`${index + 1}. We measure water levels at many rivers, and publish them within a minute. Lines follow the
          river from its source to its mouth. ${index % 3 ? 'Most of them have one station.' : 'Größen: 5 ★, 水位, Ελλάδα.'}`}
        </p>
      ))}
    </main>
  );
}
