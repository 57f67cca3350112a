import type { Card } from '#product/pages/cards/card-list.tsx';
import { definePage } from '../context.ts';

const CARD_COUNT = 50;
const RIVERS = ['Aare', 'Danube', 'Elbe', 'Inn', 'Loire', 'Rhine', 'Rhône'];
const PLACES = ['Bridge', 'Ferry', 'Lock', 'Mill', 'Weir'];
const TRENDS = ['rising', 'falling', 'steady'] as const;

export const cards = definePage({
  loader: () => ({
    cards: Array.from({ length: CARD_COUNT }, (_, index) => readCard(index)),
  }),
});

function readCard(index: number): Card {
  return {
    id: `gauge-${index + 1}`,
    river: pick(RIVERS, index),
    place: `${pick(PLACES, index)} ${index + 1}`,
    centimetres: 40 + ((index * 37) % 260),
    floodMark: 240,
    trend: pick(TRENDS, index),
    flow: 80 + ((index * 53) % 900),
    celsius: 4 + ((index * 7) % 12),
    measured: `${String(6 + (index % 12)).padStart(2, '0')}:${index % 2 === 0 ? '00' : '30'}`,
    tags: index % 2 === 0 ? ['hourly', 'public'] : ['daily', 'public', 'ice'],
  };
}

function pick<Item>(items: readonly [Item, ...Item[]] | readonly Item[], index: number): Item {
  return items[index % items.length] as Item; // none of the lists above is empty
}
