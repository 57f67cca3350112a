import { use, useEffect, useState } from 'react';
import type { PageError, ReportedAddress } from '../wire/payload.ts';
import { useEngine } from './engine-context.ts';

/**
 * Returns the error that the page can show for a thrown value, and notifies the engine that it is
 * shown. A failure in the browser gets its address later, once the server has received the report.
 */
export function useShownError(thrown: unknown): PageError {
  const { onShownError, reloadFor, toPageError } = useEngine();
  const reload = reloadFor?.(thrown);
  if (reload) use(reload); // keeps what is shown until the document is there
  const error = toPageError(thrown);
  const [told, setTold] = useState<ReportedAddress>();
  useEffect(() => onShownError?.(error, thrown, setTold), [thrown, onShownError]);
  return told && error.digest === undefined ? { ...error, ...told } : error;
}
