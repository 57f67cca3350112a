import { createActionUses } from '#engine';
import type { FormsActions } from './pages/forms/forms.tsx';
import type { RootActions } from './pages/root/newsletter.tsx';

/**
 * The actions of all pages, by route id, as the interfaces beside the pages declare them. What a form
 * names and this does not have does not compile, nor does a server half without an action that this
 * has.
 */
export interface Actions {
  root: RootActions;
  forms: FormsActions;
}

/** Forms, and what became of them. */
export const { Form, useActionOutcome, submitAs } = createActionUses<Actions>();
