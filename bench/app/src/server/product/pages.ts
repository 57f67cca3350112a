import { type LoaderArgs, personal, type ServerPages } from '#engine/server';
import type { routes } from '../../shared/product/routes.tsx';
import { readCards, readCart, readFeed, readFrame, readOrders, readProduct, readShelf, readShop } from './data.ts';

const timesOf = ({ params }: LoaderArgs) => Number(params.times);
const shelf = {
  loader: (args: LoaderArgs) => ({
    shelf: readShelf(timesOf(args)),
    cart: personal(args, ({ url }) => readCart(url.searchParams.get('q') ?? '')),
  }),
};

const searchOf = ({ url }: LoaderArgs) => url.searchParams.get('q') ?? '';

export const pages = {
  root: { loader: readFrame },
  cards: { loader: (args) => readCards(searchOf(args)) },
  large: null,
  tree: null,
  product: { loader: (args) => readProduct(searchOf(args)) },
  feed: { loader: (args) => readFeed(searchOf(args)) },
  shelf,
  shell: shelf,
  kept: { loader: (args) => ({ shelf: readShelf(timesOf(args)), cart: readCart('everyone') }) },
  shop: { loader: readShop },
  orders: { loader: (args) => readOrders(searchOf(args)) },
  prose: null,
  about: null,
  terms: null,
} satisfies ServerPages<typeof routes>;
