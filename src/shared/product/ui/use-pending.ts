import { useNavigation } from 'react-router';
import { type ActionName, readAction } from '#engine';
import type { Actions } from '../actions.ts';

/** Returns true while a form with this action (`<route id>.<name>`) is being sent. */
export function usePending(action: ActionName<Actions>): boolean {
  const { state, formData } = useNavigation();
  return state !== 'idle' && formData !== undefined && readAction(formData) === action;
}
