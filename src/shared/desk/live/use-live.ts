import { useEffect, useState } from 'react';
import { useRefresh } from '../../engine/rendering/hooks.ts';
import { createLiveLink, type LiveState } from './live-link.ts';
import { LIVE_PATH } from './live-protocol.ts';

/** Keeps the page that stands up to date, for as long as somebody can see it. */
export function useLive(): LiveState {
  const refresh = useRefresh();
  const [state, setState] = useState<LiveState>('waiting');
  useEffect(() => {
    const link = createLiveLink({ open: () => new EventSource(LIVE_PATH), refresh, onState: setState });
    function turn(): void {
      if (document.visibilityState === 'visible') link.start();
      else link.stop();
    }
    turn();
    document.addEventListener('visibilitychange', turn);
    return () => {
      document.removeEventListener('visibilitychange', turn);
      link.stop();
    };
  }, [refresh]);
  return state;
}
