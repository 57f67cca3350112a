import { useNavigation } from 'react-router';
import { type ActionName, readAction } from '#engine';
import type { pages } from '#product-server/pages/index.ts';

/** Returns true while a form with this action (`<route id>.<name>`) is being sent. */
export function usePending(action: ActionName<typeof pages>): boolean {
  const { state, formData } = useNavigation();
  return state !== 'idle' && readAction(formData) === action;
}
