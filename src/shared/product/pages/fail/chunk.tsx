import { type ComponentType, lazy, Suspense, useEffect, useState } from 'react';
import { Page } from '../../ui/page.tsx';

/** A file that an old tab requests after its build was deleted. */
const LOST_CHUNK = '/assets/lost-in-a-deploy.js';

const Lost = lazy((): Promise<{ default: ComponentType }> => import(LOST_CHUNK));

export default function FailChunk() {
  const [inBrowser, setInBrowser] = useState(false);
  useEffect(() => setInBrowser(true), []);
  return (
    <Page
      title="A file that cannot be loaded"
      lead="Part of this page is a JavaScript file that is no longer on the server, as can happen after a deploy."
    >
      {inBrowser && (
        <Suspense fallback={<p>Loading a file…</p>}>
          <Lost />
        </Suspense>
      )}
    </Page>
  );
}
