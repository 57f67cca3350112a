import loader from 'excerpt:src/server/product/pages/static.ts#staticPage';
import again from 'excerpt:src/shared/product/pages/static/again.tsx#askFor';
import route from 'excerpt:src/shared/product/routes.tsx#static';
import { useData } from '#engine';
import { Excerpt } from '../../ui/excerpt.tsx';
import { Exhibit } from '../../ui/exhibit.tsx';
import { Page } from '../../ui/page.tsx';
import { Again } from './again.tsx';
import styles from './static.module.css';

export interface StaticData {
  renderedAt: Date;
}

export default function Static() {
  const { renderedAt } = useData<StaticData>();
  return (
    <Page
      title="Static"
      lead="This page is rendered once and kept in memory. Whoever asks after 300 seconds still gets it at once, and it is rendered anew behind them."
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
          Rendered at{' '}
          <time id="rendered-at" dateTime={renderedAt.toISOString()}>
            {renderedAt.toISOString()}
          </time>
        </p>
        <p>
          <a href="/tour/static">Load the page again</a>: the time stays. Nothing about a visitor can enter it: its
          loader has no cookies, no session and no user to read.
        </p>
        <Again />
      </Exhibit>
    </Page>
  );
}
