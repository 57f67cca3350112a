import { type ReactNode, Suspense, useContext } from 'react';
import { EngineContext, type FailureHelpProps } from './engine-context.ts';

/**
 * For the page of a failure: a form "What were you doing?" that works without scripts, and the way into
 * the desk for who is signed in there. Empty until the failure has its address. In the browser it comes
 * by a chunk of its own, so that no other page carries it.
 */
export function FailureHelp(props: FailureHelpProps): ReactNode {
  const View = useContext(EngineContext)?.failureHelp;
  return (
    View &&
    props.error.digest && (
      <Suspense>
        <View {...props} />
      </Suspense>
    )
  );
}
