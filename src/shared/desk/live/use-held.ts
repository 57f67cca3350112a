import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useLocation } from 'react-router';
import { Second } from '../../units.ts';

/** Without input for this long, the reader counts as away (ms). */
const ABSENCE = 60 * Second;
/** Data that arrives this soon after a navigation belongs to it (ms). */
const ARRIVAL = 1.5 * Second;

/** The data that the page shows, and a function to show the newest. */
export interface Held<Data> {
  readonly held: Data;
  show(): void;
}

/**
 * Holds back newer data while the user reads the page, so that nothing moves. The page shows them on request, once the
 * user is away, and after a navigation or a change by the user. An empty list is always replaced.
 *
 * @param place the element that is read. Typed text and checked boxes in it count as reading.
 */
export function useHeld<Data>(data: Data, place: RefObject<HTMLElement | null>): Held<Data> {
  // A revalidation keeps the location's key. Everything else changes it.
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

/** Returns a function that says whether the page was in use since its last call. */
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

/** Whether a field differs from its default. */
function isEdited(place: HTMLElement | null): boolean {
  const fields = place?.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('input, textarea') ?? [];
  return [...fields].some((field) =>
    field instanceof HTMLInputElement && field.type === 'checkbox'
      ? field.checked !== field.defaultChecked
      : field.value !== field.defaultValue,
  );
}
