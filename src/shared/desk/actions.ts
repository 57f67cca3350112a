import { createActionUses } from '../engine/actions.ts';
import type { RootActions } from './pages/root/root.tsx';

/** The actions of the desk's pages, by route id. */
export interface DeskActions {
  root: RootActions;
}

export const { Form, useActionOutcome, submitAs } = createActionUses<DeskActions>();
