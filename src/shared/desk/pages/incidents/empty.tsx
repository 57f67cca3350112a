import type { ReactNode } from 'react';
import { Link } from '../../../engine/routing/link.tsx';
import { pickKept, toListHref, USUAL_VIEW } from '../../href.ts';
import type { IncidentsData } from '../../shapes.ts';
import styles from './empty.module.css';

/** A list without rows says why, and what to do. */
export function Empty({ of: { view, isNew, cursor } }: { readonly of: IncidentsData }) {
  const isFiltered = toListHref({ ...view, ...pickKept(USUAL_VIEW) }) !== toListHref(USUAL_VIEW);
  if (isNew) {
    return (
      <Words title="Nothing has failed yet">
        Whatever fails in the server or in a browser appears here by itself. To see how it looks, throw an error in a
        loader, and open its page.
      </Words>
    );
  }
  if (isFiltered) {
    return (
      <Words title="No incident fits">
        Nothing here fits the filters.{' '}
        <Link to={toListHref(USUAL_VIEW, { state: 'all', environment: view.environment })}>Show all incidents</Link>, or
        search for less: three letters of a message, a file or an address are enough.
      </Words>
    );
  }
  if (cursor !== undefined) {
    return (
      <Words title="The list ends here">
        <Link to={toListHref(view)}>Go to its first page</Link>
      </Words>
    );
  }
  return <Words title={WORDS[view.state].title}>{WORDS[view.state].words}</Words>;
}

const WORDS = {
  open: {
    title: 'Nothing is open',
    words: 'All that failed is resolved or ignored. What comes back, or is new, appears here by itself.',
  },
  resolved: {
    title: 'Nothing is resolved',
    words: 'Resolve an incident once its cause is gone: if it returns, it is opened again and marked as a regression.',
  },
  ignored: {
    title: 'Nothing is ignored',
    words: 'Ignore what needs no work, for ever, for a time, or until it grows. It is still counted.',
  },
  all: { title: 'Nothing is here', words: 'All incidents were deleted. New ones appear here by themselves.' },
} as const;

function Words({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className={styles.empty}>
      <h2>{title}</h2>
      <p>{children}</p>
    </div>
  );
}
