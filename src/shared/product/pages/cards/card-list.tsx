import { Link } from '#engine';
import styles from './cards.module.css';

export interface Card {
  id: string;
  river: string;
  place: string;
  centimetres: number;
  /** Level at which the river overflows its banks. */
  floodMark: number;
  trend: keyof typeof TRENDS;
  /** Cubic metres per second. */
  flow: number;
  celsius: number;
  /** Time of day. */
  measured: string;
  tags: string[];
}

const TRENDS = { rising: '↗ rising', falling: '↘ falling', steady: '→ steady' } as const;

export function CardList({ cards }: { cards: Card[] }) {
  return (
    <ul className={styles.cards}>
      {cards.map((card) => (
        <li key={card.id} className={styles.card}>
          <h2>
            <Link to={`/tour/cards?gauge=${card.id}`}>{card.place}</Link>
          </h2>
          <p className={styles.river}>{card.river}</p>
          <p className={styles.level}>
            <strong>{card.centimetres}</strong> cm <span>{TRENDS[card.trend]}</span>
          </p>
          <meter max={card.floodMark * 1.25} high={card.floodMark} value={card.centimetres} aria-label="Level" />
          <dl>
            <dt>Flow</dt>
            <dd>{card.flow} m³/s</dd>
            <dt>Water</dt>
            <dd>{card.celsius} °C</dd>
            <dt>Measured</dt>
            <dd>
              <time>{card.measured}</time>
            </dd>
          </dl>
          <ul className={styles.tags}>
            {card.tags.map((tag) => (
              <li key={tag}>{tag}</li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}
