import { Link } from '../../../engine/link.tsx';
import styles from './cards.module.css';

export interface Card {
  id: string;
  river: string;
  place: string;
  centimetres: number;
  trend: 'rising' | 'falling' | 'steady';
  tags: string[];
}

export function CardList({ cards }: { cards: Card[] }) {
  return (
    <ul className={styles.cards}>
      {cards.map((card) => (
        <li key={card.id} className={styles.card}>
          <h2>
            <Link to={`/tour/cards?gauge=${card.id}`}>{card.place}</Link>
          </h2>
          <p>
            {card.river}: <strong>{card.centimetres} cm</strong>, {card.trend}
          </p>
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
