import { useFetcher } from 'react-router';
import { useData } from '#engine';
import type { forms } from '#product-server/pages/forms.ts';
import { submitAs } from '../../forms.ts';
import styles from './forms.module.css';

/** A fetcher posts without a navigation. The count goes up before the server answers. */
export function Likes() {
  const { likes } = useData<typeof forms>();
  const fetcher = useFetcher();
  const shown = fetcher.formData ? likes + 1 : likes;
  return (
    <section className={styles.section} id="likes">
      <h2>A fetcher</h2>
      <fetcher.Form method="post">
        <button {...submitAs('forms.like')}>Like</button> <output>{shown === 1 ? '1 like' : `${shown} likes`}</output>
      </fetcher.Form>
    </section>
  );
}
