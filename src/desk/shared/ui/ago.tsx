import { toAgo, toExactTime, toIsoTime } from '../../../shared/words.ts';
import { usePassedTime } from './passing-time.tsx';

/** How long ago something was, with the exact time on hover. */
export function Ago({ at, now }: { readonly at: number; readonly now: number }) {
  return (
    <time dateTime={toIsoTime(at)} title={toExactTime(at)}>
      {toAgo(at, now + usePassedTime())}
    </time>
  );
}
