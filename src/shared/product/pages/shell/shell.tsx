import server from 'excerpt:src/server/product/pages/shell.ts#shell';
import visit from 'excerpt:src/shared/product/pages/shell/visit.tsx#Visit';
import route from 'excerpt:src/shared/product/routes.tsx#shell';
import type { PageProps } from '#engine';
import type { shell } from '#product-server/pages/shell.ts';
import { Form } from '../../forms.ts';
import { Clock } from '../../ui/clock.tsx';
import { Excerpt } from '../../ui/excerpt.tsx';
import { Exhibit } from '../../ui/exhibit.tsx';
import { Page } from '../../ui/page.tsx';
import { usePending } from '../../ui/use-pending.ts';
import styles from './shell.module.css';
import { Visit } from './visit.tsx';

export default function Shell({ data }: PageProps<typeof shell>) {
  const { renderedAt } = data;
  const pending = usePending('shell.renderAgain');
  return (
    <Page
      title="Shell"
      lead="This page is rendered once for everyone, except for a hole. Each visitor gets the stored page immediately, and the personal part follows in the same response."
    >
      <Exhibit
        code={
          <>
            <Excerpt of={route} />
            <Excerpt of={server} />
            <Excerpt of={visit} />
          </>
        }
      >
        <p className={styles.rendered}>
          For everyone: rendered at <Clock id="rendered-at" at={renderedAt} />
        </p>
        <Visit />
        <Form action="shell.renderAgain">
          <p>
            <button type="submit" disabled={pending}>
              Render the shell again
            </button>
          </p>
        </Form>
      </Exhibit>
    </Page>
  );
}
