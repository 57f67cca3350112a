import { createActionUses } from '#engine';
import type { FormsActions } from './pages/forms/forms.tsx';
import type { RootActions } from './pages/root/page-note.tsx';
import type { ShellActions } from './pages/shell/shell.tsx';

/**
 * The actions of all pages, by route id. Each page declares its own. A form that names an action which is not listed
 * here does not compile. Neither does a server half that lacks one of them.
 */
export interface Actions {
  root: RootActions;
  forms: FormsActions;
  shell: ShellActions;
}

/** Forms and their results, checked against `Actions`. */
export const { Form, useActionResult, submitAs } = createActionUses<Actions>();
