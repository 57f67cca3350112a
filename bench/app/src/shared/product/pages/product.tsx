import { Await, type PageProps } from '#engine';

export interface ProductData {
  name: string;
  facts: { name: string; value: string }[];
  reviews: Promise<{ author: string; stars: string; text: string }[]>;
  related: Promise<{ id: number; name: string }[]>;
}

export default function Product({ data: { name, facts, reviews, related } }: PageProps<ProductData>) {
  return (
    <article>
      <title>{name}</title>
      <h1>{name}</h1>
      <dl>
        {facts.map((fact) => (
          <div key={fact.name}>
            <dt>{fact.name}</dt>
            <dd>{fact.value}</dd>
          </div>
        ))}
      </dl>
      <h2>Reviews</h2>
      <Await value={reviews} fallback={<p>Loading the reviews…</p>}>
        {(list) => (
          <ul>
            {list.map(({ author, stars, text }) => (
              <li key={author}>
                <strong>{author}</strong> <span>{stars}</span>
                <p>{text}</p>
              </li>
            ))}
          </ul>
        )}
      </Await>
      <h2>Related</h2>
      <Await value={related} fallback={<p>Loading related products…</p>}>
        {(list) => (
          <ul>
            {list.map(({ id, name: title }) => (
              <li key={id}>{title}</li>
            ))}
          </ul>
        )}
      </Await>
    </article>
  );
}
