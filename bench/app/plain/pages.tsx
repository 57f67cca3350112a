import type { ReactNode } from 'react';
import { readCards, readFeed, readFrame, readOrders, readProduct, readShop } from '../src/server/product/data.ts';
import { Document } from '../src/shared/product/document.tsx';
import About from '../src/shared/product/pages/about.tsx';
import Cards from '../src/shared/product/pages/cards.tsx';
import Feed from '../src/shared/product/pages/feed.tsx';
import { Frame, type FrameData } from '../src/shared/product/pages/frame.tsx';
import Large from '../src/shared/product/pages/large.tsx';
import Orders from '../src/shared/product/pages/orders.tsx';
import Product from '../src/shared/product/pages/product.tsx';
import { Shop } from '../src/shared/product/pages/shop.tsx';
import Terms from '../src/shared/product/pages/terms.tsx';
import Tree from '../src/shared/product/pages/tree.tsx';

interface Page {
  readonly element: ReactNode;
  /** Sent by Express, so that a browser can hydrate. */
  readonly data: object;
}

/** The pages that are rendered for each request, as both sides without Spillway make them. */
export const pages: Readonly<Record<string, (search: string) => Page>> = {
  '/cards': (search) => framed(readCards(search), (data) => <Cards data={data} />),
  '/orders': (search) => {
    const shop = readShop();
    return framed({ ...readOrders(search), shop }, (data) => (
      <Shop data={shop}>
        <Orders data={data} />
      </Shop>
    ));
  },
  '/large': () => framed({}, () => <Large />),
  '/tree': () => framed({}, () => <Tree />),
  '/product': (search) => framed(readProduct(search), (data) => <Product data={data} />),
  '/feed': (search) => framed(readFeed(search), (data) => <Feed data={data} />),
};

function framed<Data extends object>(data: Data, show: (data: Data) => ReactNode): Page {
  const frame: FrameData = readFrame();
  const element = (
    <Document lang="en" head={null}>
      <Frame data={frame}>{show(data)}</Frame>
    </Document>
  );
  return { element, data: { frame, data } };
}

/** Pages that are the same for everybody. */
export const staticPages: Readonly<Record<string, ReactNode>> = {
  '/about': <Prose page={<About />} />,
  '/terms': <Prose page={<Terms />} />,
};

function Prose({ page }: { page: ReactNode }) {
  return (
    <Document lang="en" head={null}>
      <main id="main">{page}</main>
    </Document>
  );
}
