import { Outlet } from 'react-router';
import type { PageProps } from '#engine';
import { Shop, type ShopData } from './shop.tsx';

export default function ShopLayout({ data }: PageProps<ShopData>) {
  return (
    <Shop data={data}>
      <Outlet />
    </Shop>
  );
}
