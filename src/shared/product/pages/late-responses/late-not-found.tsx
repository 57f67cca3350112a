import loader from 'excerpt:src/server/product/pages/late-not-found.ts#lateNotFound';
import { Await, type PageProps } from '#engine';
import type { lateNotFound } from '#product-server/pages/late-not-found.ts';
import { Excerpt } from '../../ui/excerpt.tsx';
import { Exhibit } from '../../ui/exhibit.tsx';
import { Page } from '../../ui/page.tsx';

export default function LateNotFound({ data }: PageProps<typeof lateNotFound>) {
  const { boat } = data;
  return (
    <Page
      title="Not found, late"
      lead="The page was sent with status 200 before its loader knew that the boat does not exist. The error shows in its place, and a meta tag asks search engines not to index the page."
    >
      <Exhibit code={<Excerpt of={loader} />}>
        <Await value={boat} fallback={<p>Looking for the boat…</p>}>
          {(name) => <p>{name}</p>}
        </Await>
      </Exhibit>
    </Page>
  );
}
