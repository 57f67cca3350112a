import type { ReactNode } from 'react';
import { Link } from '#engine';

export interface ShopData {
  name: string;
  totals: { label: string; value: number }[];
}

export function Shop({ data: { name, totals }, children }: { data: ShopData; children: ReactNode }) {
  return (
    <section aria-labelledby="shop">
      <h1 id="shop">{name}</h1>
      <dl>
        {totals.map(({ label, value }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Link to="/orders">All orders</Link>
      {children}
    </section>
  );
}
