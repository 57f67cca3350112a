import type { Station } from '../../shared/product/api.ts';
import type { CardsData } from '../../shared/product/pages/cards.tsx';
import type { FeedData } from '../../shared/product/pages/feed.tsx';
import type { FrameData } from '../../shared/product/pages/frame.tsx';

// All three sides call these functions. They make new objects for each request, as a database driver does, and the
// search is part of the data, so that no answer can be kept for the next request.

const NAMES = ['Zoë Müller', 'Łukasz Nowak', 'Ελένη Παππά', '山田 花子', 'Ana Souza', 'Noah Smith'];
const KINDS = ['level', 'flow', 'temperature'] as const;
const MENU = ['/cards', '/large', '/feed', '/prose'];
const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);

const list = <Item>(length: number, make: (index: number) => Item): Item[] =>
  Array.from({ length }, (_, index) => make(index));
const pick = <Item>(items: readonly Item[], index: number): Item => items[index % items.length] as Item; // none is empty
/** Made once, because formatting dates would cost more than answering. */
const TIMES = list(60, (index) => new Date(START + index * DAY).toISOString());
const later = <Value>(ms: number, make: () => Value): Promise<Value> =>
  new Promise((resolve) => setTimeout(() => resolve(make()), ms));

export function readFrame(): FrameData {
  return { visitor: 'Zoë Müller', menu: MENU };
}

/** 12 kB as JSON. */
export function readCards(search: string): CardsData {
  return {
    search,
    cards: list(50, (index) => ({
      id: index + 1,
      title: `Card ★ ${index + 1} ${search}`,
      stars: '★'.repeat(1 + (index % 5)).padEnd(5, '☆'),
      text: `A sentence about ${search}, as long as those on cards usually are. Another one, a bit shorter than the first one is.`,
      price: 10 + ((index * 37) % 90),
      isNew: index % 4 === 0,
      tags: index % 2 ? ['hourly', 'public'] : ['daily', 'public', 'Größe'],
    })),
  };
}

/** Two lists with 12 entries each, which are ready after 3 and 6 ms. */
export function readFeed(search: string): FeedData {
  return {
    search,
    sections: list(2, (section) => ({
      title: `Section ${section + 1}`,
      rows: later(3 * (section + 1), () =>
        list(12, (id) => ({ id, text: `${pick(NAMES, id)} changed entry ${id} of ${search}`, at: pick(TIMES, id) })),
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
    operator: 'Wasserstraßen- und Schifffahrtsamt Rhein',
    sensors: list(10, (index) => ({
      kind: pick(KINDS, index),
      unit: pick(['cm', 'm³/s', '°C'], index),
      value: 100 + ((id + index) % 97),
      measuredAt: pick(TIMES, index),
      isValid: index % 5 !== 0,
    })),
  };
}
