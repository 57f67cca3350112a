import { type ReactNode, Suspense, useContext } from 'react';
import { EngineContext, type FailureHelpProps } from './engine-context.ts';

/**
 * For the failure page: a form "What were you doing?" that works without scripts, and a link to the failure for those who
 * can open it. Empty until the failure has its address. In the browser it is a separate chunk, so that other pages do not
 * load it.
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
