import { useNavigation } from 'react-router';
import { ACTION_FIELD } from '../../engine/protocol.ts';

/** Whether the form that posts this action (`<route id>.<name>`) is on its way. */
export function usePending(action: string): boolean {
  const navigation = useNavigation();
  return navigation.state !== 'idle' && navigation.formData?.get(ACTION_FIELD) === action;
}
