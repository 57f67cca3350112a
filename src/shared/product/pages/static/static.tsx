import loader from 'excerpt:src/server/product/pages/static.ts#staticPage';
import again from 'excerpt:src/shared/product/pages/static/again.tsx#askFor';
import route from 'excerpt:src/shared/product/routes.tsx#static';
import type { PageProps } from '#engine';
import type { staticPage } from '#product-server/pages/static.ts';
import { Clock } from '../../ui/clock.tsx';
import { Excerpt } from '../../ui/excerpt.tsx';
import { Exhibit } from '../../ui/exhibit.tsx';
import { Page } from '../../ui/page.tsx';
import { Again } from './again.tsx';
import styles from './static.module.css';

export default function Static({ data }: PageProps<typeof staticPage>) {
  const { renderedAt } = data;
  return (
    <Page
      title="Static"
      lead="This page is rendered once and kept in memory. A request after 300 seconds still gets it immediately, and it is rendered again in the background."
    >
      <Exhibit
        code={
          <>
            <Excerpt of={route} />
            <Excerpt of={loader} />
            <Excerpt of={again} />
          </>
        }
      >
        <p className={styles.rendered}>
          Rendered at <Clock id="rendered-at" at={renderedAt} />
        </p>
        <p>
          <a href="/tour/static">Reload the page</a>: the time stays the same. The page is the same for every visitor,
          so its loader cannot read cookies, a session or a user.
        </p>
        <Again />
      </Exhibit>
    </Page>
  );
}
