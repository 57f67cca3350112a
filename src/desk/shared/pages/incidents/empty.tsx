import type { ReactNode } from 'react';
import { Link } from '#engine';
import { isFiltered, toListHref, USUAL_VIEW } from '../../href.ts';
import type { IncidentsData } from '../../page-data.ts';
import styles from './empty.module.css';

/** Says why the list is empty and what to do. */
export function Empty({ of: { view, isNew, cursor } }: { readonly of: IncidentsData }) {
  if (isNew) {
    return (
      <Words title="Nothing has failed yet">
        Failures of the server and of browsers appear here. To try it, throw an error in a loader and open its page.
      </Words>
    );
  }
  if (isFiltered(view)) {
    return (
      <Words title="No matching incidents">
        No incident matches the filters.{' '}
        <Link to={toListHref(USUAL_VIEW, { state: 'all', environment: view.environment })}>Show all incidents</Link>, or
        shorten the search. Three letters of a message, a file or an address are enough.
      </Words>
    );
  }
  if (cursor !== undefined) {
    return (
      <Words title="End of the list">
        <Link to={toListHref(view)}>Go to its first page</Link>
      </Words>
    );
  }
  return <Words title={WORDS[view.state].title}>{WORDS[view.state].words}</Words>;
}

const WORDS = {
  open: {
    title: 'No open incidents',
    words: 'All incidents are resolved or ignored. New ones and regressions appear here.',
  },
  resolved: {
    title: 'No resolved incidents',
    words: 'Resolve an incident when you have fixed it. If it happens again, it opens again as a regression.',
  },
  ignored: {
    title: 'No ignored incidents',
    words:
      'Ignore an incident that needs no work: forever, for a time, or until it happens more often. It is still counted.',
  },
  all: { title: 'No incidents', words: 'All incidents were deleted. New ones appear here.' },
} as const;

function Words({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className={styles.empty}>
      <h2>{title}</h2>
      <p>{children}</p>
    </div>
  );
}
