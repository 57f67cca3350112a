import type { LoaderArgs, ServerPages } from '#engine/server';
import type { routes } from '../../shared/product/routes.tsx';
import { readCards, readFeed, readFrame, readOrders, readProduct, readShop } from './data.ts';

const searchOf = ({ url }: LoaderArgs) => url.searchParams.get('q') ?? '';

export const pages = {
  root: { loader: readFrame },
  cards: { loader: (args) => readCards(searchOf(args)) },
  large: null,
  tree: null,
  product: { loader: (args) => readProduct(searchOf(args)) },
  feed: { loader: (args) => readFeed(searchOf(args)) },
  shop: { loader: readShop },
  orders: { loader: (args) => readOrders(searchOf(args)) },
  prose: null,
  about: null,
  terms: null,
} satisfies ServerPages<typeof routes>;
