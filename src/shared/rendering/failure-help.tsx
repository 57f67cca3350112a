import type { ReactNode } from 'react';
import type { PageError } from '../wire/payload.ts';

/** For the failure page: a link to the failure, for visitors who can open it. */
export function FailureHelp({ error: { url } }: { readonly error: PageError }): ReactNode {
  return (
    url && (
      <p className="error-link">
        <a href={url}>Open this failure</a>
      </p>
    )
  );
}
