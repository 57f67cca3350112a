import type { ReactNode } from 'react';
import { Link } from '#engine';

export interface ShopData {
  name: string;
}

export function Shop({ data: { name }, children }: { data: ShopData; children: ReactNode }) {
  return (
    <section aria-labelledby="shop">
      <h1 id="shop">{name}</h1>
      <Link to="/orders">All orders</Link>
      {children}
    </section>
  );
}
