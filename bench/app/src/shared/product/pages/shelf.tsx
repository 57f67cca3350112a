import { Await, type PageProps } from '#engine';
import Cards, { type CardsData } from './cards.tsx';

export interface ShelfData {
  shelf: CardsData;
  cart: { visitor: string; items: number } | Promise<{ visitor: string; items: number }>;
}

/** Cards for everyone, and a cart for each visitor. */
export default function Shelf({ data: { shelf, cart } }: PageProps<ShelfData>) {
  return (
    <>
      <aside>
        <Await value={cart} fallback={<p>Loading your cart…</p>}>
          {({ visitor, items }) => (
            <p>
              {visitor}, your cart has <strong>{items}</strong> items.
            </p>
          )}
        </Await>
      </aside>
      <Cards data={shelf} />
    </>
  );
}
