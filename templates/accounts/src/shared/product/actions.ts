import { createActionUses } from '#engine';
import type { AccountActions } from './pages/account/account.tsx';
import type { ChoosePasswordActions } from './pages/choose-password/choose-password.tsx';
import type { NotesActions } from './pages/notes/notes.tsx';
import type { RootActions } from './pages/root/root.tsx';
import type { SignInActions } from './pages/sign-in/sign-in.tsx';
import type { SignUpActions } from './pages/sign-up/sign-up.tsx';

/** The actions of all pages, by route id. A form that names an action which is not listed here does not compile. */
export interface Actions {
  root: RootActions;
  notes: NotesActions;
  'sign-in': SignInActions;
  'sign-up': SignUpActions;
  'choose-password': ChoosePasswordActions;
  account: AccountActions;
}

/** Forms and their results, checked against `Actions`. */
export const { Form, useActionResult, submitAs } = createActionUses<Actions>();
