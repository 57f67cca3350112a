import { Await, type PageProps } from '#engine';

export interface FeedData {
  search: string;
  sections: { title: string; rows: Promise<{ id: number; text: string; at: string }[]> }[];
}

export default function Feed({ data: { search, sections } }: PageProps<FeedData>) {
  return (
    <article>
      <title>{`Feed: ${search}`}</title>
      <h1>Feed: {search}</h1>
      {sections.map(({ title, rows }) => (
        <section key={title}>
          <h2>{title}</h2>
          <Await value={rows} fallback={<p>Loading…</p>}>
            {(list) => (
              <ol>
                {list.map(({ id, text, at }) => (
                  <li key={id}>
                    <p>{text}</p>
                    <time>{at}</time>
                  </li>
                ))}
              </ol>
            )}
          </Await>
        </section>
      ))}
    </article>
  );
}
