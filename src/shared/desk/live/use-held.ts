import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useLocation } from 'react-router';
import { Second } from '../../units.ts';

/** Without a hand on mouse or keys for so long, nobody is held to be reading (ms). */
const ABSENCE = 60 * Second;
/** What comes so soon after a navigation is what was asked for (ms). */
const ARRIVAL = 1.5 * Second;

/** What a page showed when it was last asked for, and a way on to what came since. */
export interface Held<Data> {
  readonly held: Data;
  show(): void;
}

/**
 * Keeps what somebody reads where it is while newer data come in by themselves: they are shown when
 * they are asked for, or once nobody looks. A navigation and a change of one's own are such a question.
 * An empty list has nothing to keep.
 *
 * @param place what is read; what is typed or ticked in it counts as a hand on it
 */
export function useHeld<Data>(data: Data, place: RefObject<HTMLElement | null>): Held<Data> {
  // The router keeps the location while it brings data anew, and makes another one for all else.
  const { key } = useLocation();
  const [accepted, setAccepted] = useState({ key, data });
  const isRead = useAttention(place);
  const arrived = useRef({ key: '', at: 0 });
  if (accepted.key !== key) setAccepted({ key, data });
  useLayoutEffect(() => {
    if (arrived.current.key !== key) arrived.current = { key, at: performance.now() };
    const isArriving = performance.now() - arrived.current.at < ARRIVAL;
    const isKept = isArriving ? isEdited(place.current) : isRead();
    setAccepted((before) => (isKept && !isEmpty(before.data) ? before : { key, data }));
  }, [key, data, isRead, place]);
  return { held: accepted.key === key ? accepted.data : data, show: () => setAccepted({ key, data }) };
}

const isEmpty = (data: unknown): boolean => Array.isArray(data) && data.length === 0;

const SIGNS = ['pointermove', 'pointerdown', 'keydown', 'wheel', 'scroll', 'touchmove'] as const;

/** Whether somebody is at it: answers for the time since it was asked last. */
function useAttention(place: RefObject<HTMLElement | null>): () => boolean {
  const seen = useRef({ at: Number.NEGATIVE_INFINITY, wasHidden: false });
  useEffect(() => {
    const noteSign = () => {
      seen.current.at = performance.now();
    };
    const noteHidden = () => {
      if (document.visibilityState === 'hidden') seen.current.wasHidden = true;
    };
    noteSign();
    for (const sign of SIGNS) addEventListener(sign, noteSign, { passive: true, capture: true });
    document.addEventListener('visibilitychange', noteHidden);
    return () => {
      for (const sign of SIGNS) removeEventListener(sign, noteSign, { capture: true });
      document.removeEventListener('visibilitychange', noteHidden);
    };
  }, []);
  return useCallback(() => {
    const { at, wasHidden } = seen.current;
    seen.current.wasHidden = false;
    if (isTouched(place.current)) return true;
    return !wasHidden && performance.now() - at < ABSENCE;
  }, [place]);
}

function isTouched(place: HTMLElement | null): boolean {
  return (place?.contains(document.activeElement) ?? false) || isEdited(place);
}

/** Whether a field of it is not as it came. */
function isEdited(place: HTMLElement | null): boolean {
  const fields = place?.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('input, textarea') ?? [];
  return [...fields].some((field) =>
    field instanceof HTMLInputElement && field.type === 'checkbox'
      ? field.checked !== field.defaultChecked
      : field.value !== field.defaultValue,
  );
}
