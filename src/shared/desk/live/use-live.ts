import { useEffect, useState } from 'react';
import { useRefresh } from '../../engine/rendering/hooks.ts';
import { createLiveLink, type LiveState } from './live-link.ts';
import { LIVE_PATH } from './live-protocol.ts';

/** Keeps the current page up to date while it is visible. */
export function useLive(): LiveState {
  const refresh = useRefresh();
  const [state, setState] = useState<LiveState>('waiting');
  useEffect(() => {
    const link = createLiveLink({ open: () => new EventSource(LIVE_PATH), refresh, onState: setState });
    function followVisibility(): void {
      if (document.visibilityState === 'visible') link.start();
      else link.stop();
    }
    followVisibility();
    document.addEventListener('visibilitychange', followVisibility);
    return () => {
      document.removeEventListener('visibilitychange', followVisibility);
      link.stop();
    };
  }, [refresh]);
  return state;
}
