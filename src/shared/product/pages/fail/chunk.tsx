import { type ComponentType, lazy, Suspense, useEffect, useState } from 'react';
import { Page } from '../../ui/page.tsx';

/** What a tab asks for that was left open until its build was taken away. */
const LOST_CHUNK = '/assets/lost-in-a-deploy.js';

const Lost = lazy((): Promise<{ default: ComponentType }> => import(LOST_CHUNK));

export default function FailChunk() {
  const [inBrowser, setInBrowser] = useState(false);
  useEffect(() => setInBrowser(true), []);
  return (
    <Page
      title="A chunk that cannot be loaded"
      lead="Part of this page is code that is no longer on the server, as after a deploy."
    >
      {inBrowser && (
        <Suspense fallback={<p>Loading a chunk…</p>}>
          <Lost />
        </Suspense>
      )}
    </Page>
  );
}
