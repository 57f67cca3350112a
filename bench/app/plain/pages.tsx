import type { ReactNode } from 'react';
import * as from from '../src/server/product/data.ts';
import { Document } from '../src/shared/product/document.tsx';
import Cards from '../src/shared/product/pages/cards.tsx';
import Feed from '../src/shared/product/pages/feed.tsx';
import { Frame } from '../src/shared/product/pages/frame.tsx';
import Large from '../src/shared/product/pages/large.tsx';
import Prose from '../src/shared/product/pages/prose.tsx';

/** The pages that are rendered for each request, as both sides without Spillway make them. */
export const pages: Readonly<Record<string, (search: string) => { element: ReactNode; data: object }>> = {
  '/cards': (search) => framed(from.readCards(search), (data) => <Cards data={data} />),
  '/large': () => framed({}, () => <Large />),
  '/feed': (search) => framed(from.readFeed(search), (data) => <Feed data={data} />),
};

/** @returns the page, and the data that Express sends so that a browser can hydrate it */
function framed<Data extends object>(data: Data, show: (data: Data) => ReactNode) {
  const frame = from.readFrame();
  return { element: inDocument(<Frame data={frame}>{show(data)}</Frame>), data: { frame, data } };
}

/** Pages that are the same for everybody. */
export const staticPages: Readonly<Record<string, ReactNode>> = {
  '/prose': inDocument(<Prose />),
};

function inDocument(page: ReactNode): ReactNode {
  return (
    <Document lang="en" head={null}>
      {page}
    </Document>
  );
}
