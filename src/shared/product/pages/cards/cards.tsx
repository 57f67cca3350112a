import loader from 'excerpt:src/server/product/pages/cards.ts#cards';
import type { PageProps } from '#engine';
import type { cards } from '#product-server/pages/cards.ts';
import { Excerpt } from '../../ui/excerpt.tsx';
import { Exhibit } from '../../ui/exhibit.tsx';
import { Page } from '../../ui/page.tsx';
import { CardList } from './card-list.tsx';

export default function Cards({ data }: PageProps<typeof cards>) {
  const { cards } = data;
  return (
    <Page title="Cards" lead={`${cards.length} gauges from a loader, rendered for every request.`}>
      <Exhibit code={<Excerpt of={loader} />}>
        <p>
          <code>npm run bench</code> measures a page like this one against the same elements rendered by React on a bare
          Node server. It prints the ratios of requests and of CPU time.
        </p>
      </Exhibit>
      <CardList cards={cards} />
    </Page>
  );
}
