import { useNavigation } from 'react-router';
import type { ActionName } from '#engine';
import { readAction } from '#engine';
import type { Actions } from '../actions.ts';

/** Whether the form that posts this action (`<route id>.<name>`) is on its way. */
export function usePending(action: ActionName<Actions>): boolean {
  const { state, formData } = useNavigation();
  return state !== 'idle' && formData !== undefined && readAction(formData) === action;
}
