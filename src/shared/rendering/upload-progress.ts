import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();
let progress: number | undefined;

export function setUploadProgress(value: number | undefined): void {
  progress = value;
  for (const listener of listeners) listener();
}

/**
 * Returns how much of a form with files has been sent, from 0 to 1: `<progress value={useUploadProgress()} />`. Undefined
 * if no such form is being sent, without JavaScript, and for the form of a fetcher.
 */
export function useUploadProgress(): number | undefined {
  return useSyncExternalStore(subscribe, () => progress, noProgress);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const noProgress = () => undefined;
