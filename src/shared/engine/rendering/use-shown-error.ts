import { useEffect, useState } from 'react';
import type { PageError, ToldAddress } from '../wire/payload.ts';
import { useEngine } from './engine-context.ts';

/**
 * Tells the engine that an error is shown, and gives the error its address where that comes later: a
 * failure of the browser's own has one once the server has heard of it.
 *
 * @param thrown what `error` was made of
 */
export function useShownError(error: PageError, thrown: unknown): PageError {
  const { onShownError } = useEngine();
  const [told, setTold] = useState<ToldAddress>();
  useEffect(() => onShownError?.(error, thrown, setTold), [thrown, onShownError]);
  return told && error.digest === undefined ? { ...error, ...told } : error;
}
