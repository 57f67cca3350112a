import { Link, type PageProps } from '#engine';
import styles from './cards.module.css';

export interface CardsData {
  search: string;
  cards: { id: number; title: string; stars: string; text: string; price: number; isNew: boolean; tags: string[] }[];
}

export default function Cards({ data: { search, cards } }: PageProps<CardsData>) {
  return (
    <article>
      <title>{`Cards for ${search}`}</title>
      <h1>Cards for {search}</h1>
      <ul className={styles.cards}>
        {cards.map(({ id, title, stars, text, price, isNew, tags }) => (
          <li key={id} className={styles.card}>
            <h2>
              <Link to={`/cards?q=${id}`}>{title}</Link>
            </h2>
            <p role="img" aria-label="Rating">
              {stars}
            </p>
            <p>{text}</p>
            <p>
              <strong>{price}</strong> € {isNew && <em>New</em>}
            </p>
            <ul>
              {tags.map((tag) => (
                <li key={tag}>{tag}</li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </article>
  );
}
