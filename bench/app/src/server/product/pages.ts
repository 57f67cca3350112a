import type { LoaderArgs, ServerPages } from '#engine/server';
import type { routes } from '../../shared/product/routes.tsx';
import * as data from './data.ts';

const searchOf = ({ url }: LoaderArgs) => url.searchParams.get('q') ?? '';

export const pages = {
  root: { loader: data.readFrame },
  cards: { loader: (args) => data.readCards(searchOf(args)) },
  large: null,
  feed: { loader: (args) => data.readFeed(searchOf(args)) },
  prose: null,
} satisfies ServerPages<typeof routes>;
