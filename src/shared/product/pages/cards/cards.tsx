import { useData } from '../../../engine/hooks.ts';
import { Page } from '../../ui/page.tsx';
import { type Card, CardList } from './card-list.tsx';

export interface CardsData {
  cards: Card[];
}

export default function Cards() {
  const { cards } = useData<CardsData>();
  return (
    <Page title="Cards" lead={`${cards.length} gauges from a loader, rendered for each request.`}>
      <CardList cards={cards} />
    </Page>
  );
}
