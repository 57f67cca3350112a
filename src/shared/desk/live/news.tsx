import { useEffect, useRef, useState } from 'react';
import { Second } from '../../units.ts';
import styles from './news.module.css';

/** Time between two announcements (ms), so that they do not disturb the users of screen readers. */
const ANNOUNCEMENT_GAP = 30 * Second;

interface NewsProps {
  /** What the button shows, such as `3 new incidents`; undefined if nothing is new. */
  readonly words: string | undefined;
  /** Not announced to screen readers. */
  readonly isQuiet?: boolean;
  readonly onShow: () => void;
}

/** A button over the page that shows new content, so that nothing moves by itself. */
export function News({ words, isQuiet = false, onShow }: NewsProps) {
  const announced = useSparing(isQuiet ? '' : (words ?? ''));
  return (
    <>
      <p className="unseen" role="status">
        {announced}
      </p>
      {words !== undefined && (
        <button type="button" className={styles.news} data-news="" onClick={onShow}>
          <strong>Show {words}</strong>
        </button>
      )}
    </>
  );
}

/** Returns the latest words, at most one change per `ANNOUNCEMENT_GAP`. */
function useSparing(words: string): string {
  const [said, setSaid] = useState('');
  const saidAt = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const wait = words === '' ? 0 : Math.max(0, saidAt.current + ANNOUNCEMENT_GAP - performance.now());
    const timer = setTimeout(() => {
      if (words !== '') saidAt.current = performance.now();
      setSaid(words);
    }, wait);
    return () => clearTimeout(timer);
  }, [words]);
  return said;
}
