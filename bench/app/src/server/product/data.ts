import type { CardsData } from '../../shared/product/pages/cards.tsx';
import type { FeedData } from '../../shared/product/pages/feed.tsx';
import type { FrameData } from '../../shared/product/pages/frame.tsx';
import type { OrdersData } from '../../shared/product/pages/orders.tsx';
import type { ProductData } from '../../shared/product/pages/product.tsx';
import type { ShopData } from '../../shared/product/pages/shop.tsx';
import type { NewReadings, Readings, Station } from '../../shared/product/schemas.ts';

// All three sides call these functions. They make new objects for each request, as a database driver does, and the
// search is part of the data, so that no answer can be kept for the next request.

const NAMES = ['Zoë Müller', 'Łukasz Nowak', 'Ελένη Παππά', '山田 花子', 'Ana Souza', 'Noah Smith'];
const STATES = ['open', 'paid', 'sent', 'returned'];
const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);

const list = <Item>(length: number, make: (index: number) => Item): Item[] =>
  Array.from({ length }, (_, index) => make(index));
const pick = <Item>(items: readonly Item[], index: number): Item => items[index % items.length] as Item; // none is empty
/** Made once, because formatting dates would cost more than answering. */
const TIMES = list(60, (index) => new Date(START + index * DAY).toISOString());

const toStars = (count: number) => '★'.repeat(count) + '☆'.repeat(5 - count);
const later = <Value>(ms: number, make: () => Value): Promise<Value> =>
  new Promise((resolve) => setTimeout(() => resolve(make()), ms));

export function readFrame(): FrameData {
  return {
    visitor: 'Zoë Müller',
    messages: 3,
    menu: ['cards', 'large', 'tree', 'product', 'feed', 'orders', 'about', 'terms'].map((name) => ({
      title: name,
      path: `/${name}`,
    })),
  };
}

/** 12 kB as JSON. */
export function readCards(search: string): CardsData {
  return {
    search,
    cards: list(50, (index) => ({
      id: index + 1,
      title: `Card ★ ${index + 1} ${search}`,
      stars: toStars(1 + (index % 5)),
      text: `A sentence about ${search}, as long as those on cards usually are. Another one, a bit shorter than the first one is.`,
      price: 10 + ((index * 37) % 90),
      isNew: index % 4 === 0,
      tags: index % 2 ? ['hourly', 'public'] : ['daily', 'public', 'Größe'],
    })),
  };
}

/** @param times 50 cards each */
export function readShelf(times: number): CardsData {
  const { cards } = readCards('all');
  const copies = list(times, (copy) => cards.map((card) => ({ ...card, id: card.id + copy * cards.length })));
  return { search: 'all', cards: copies.flat() };
}

export function readCart(visitor: string): { visitor: string; items: number } {
  return { visitor, items: visitor.length };
}

export function readShop(): ShopData {
  return { name: 'Café Ærø', totals: STATES.map((label, index) => ({ label, value: 12 + index * 7 })) };
}

export function readOrders(search: string): OrdersData {
  return {
    search,
    states: [...STATES],
    orders: list(60, (index) => ({
      id: `A-${1000 + index}`,
      placed: new Date(START + index * DAY),
      customer: pick(NAMES, index),
      state: pick(STATES, index),
      cents: 995 + ((index * 1234) % 20_000),
    })),
  };
}

export function readProduct(search: string): ProductData {
  return {
    name: `Kettle ${search}`,
    facts: list(12, (index) => ({ name: `Fact ${index + 1}`, value: `${index * 3} cm × ${index} cm` })),
    reviews: later(2, () =>
      list(12, (index) => ({
        author: `${pick(NAMES, index)} ${index}`,
        stars: toStars(1 + (index % 5)),
        text: `It boils water for ${search}. It is quiet, and it looks good in the kitchen.`,
      })),
    ),
    related: later(5, () => list(10, (index) => ({ id: index, name: `Kettle ${search} ${index}` }))),
  };
}

export function readFeed(search: string): FeedData {
  return {
    search,
    sections: [60, 5, 10, 20].map((length, section) => ({
      title: `Section ${section + 1}`,
      rows: later(section * 2, () =>
        list(length, (index) => ({
          id: index,
          text: `${pick(NAMES, index)} changed entry ${index} of ${search}`,
          at: pick(TIMES, index),
        })),
      ),
    })),
  };
}

/** 1 kB as JSON. */
export function readStation(id: number): Station | undefined {
  if (!(id > 0)) return undefined;
  return {
    id,
    name: `Köln ${id}`,
    river: 'Rhine',
    position: { latitude: 50.93 + id / 1e5, longitude: 6.96 },
    operator: 'Wasserstraßen- und Schifffahrtsamt Rhein',
    sensors: list(9, (index) => ({
      kind: pick(['level', 'flow', 'temperature'] as const, index),
      unit: pick(['cm', 'm³/s', '°C'], index),
      value: 100 + ((id + index) % 97),
      measuredAt: pick(TIMES, index),
      isValid: index % 5 !== 0,
    })),
  };
}

export function storeReadings({ station, readings }: NewReadings): Readings {
  const sum = readings.reduce((total, { value }) => total + value, 0);
  return { station, readings, id: 1, mean: sum / readings.length };
}
