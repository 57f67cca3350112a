import loader from 'excerpt:src/server/product/pages/late-redirect.ts#lateRedirect';
import { Await, type PageProps } from '#engine';
import type { lateRedirect } from '#product-server/pages/late-redirect.ts';
import { Excerpt } from '../../ui/excerpt.tsx';
import { Exhibit } from '../../ui/exhibit.tsx';
import { Page } from '../../ui/page.tsx';

export default function LateRedirect({ data }: PageProps<typeof lateRedirect>) {
  const { boat } = data;
  return (
    <Page
      title="Redirect, late"
      lead="The page was sent before its loader knew about the redirect. It takes you to the streaming page in a moment."
    >
      <Exhibit code={<Excerpt of={loader} />}>
        <Await value={boat} fallback={<p>Looking for the boat…</p>}>
          {(name) => <p>{name}</p>}
        </Await>
      </Exhibit>
    </Page>
  );
}
