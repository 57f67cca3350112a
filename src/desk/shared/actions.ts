import { createActionUses } from '#engine';

/** The result of a change. */
export interface Changed {
  readonly words: string;
}

/** The result of a test notification. */
export interface TestResult {
  readonly target: string;
  readonly ok: boolean;
  readonly words: string;
}

/** The actions of the desk's pages, by route id. */
export interface DeskActions {
  root: {
    signIn(): undefined;
    signOut(): undefined;
  };
  incidents: {
    resolve(): Changed;
    ignore(): Changed;
    reopen(): Changed;
  };
  incident: {
    resolve(): Changed;
    ignore(): Changed;
    reopen(): Changed;
    addNote(): Changed;
    removeNote(): Changed;
    removeOccurrence(): undefined;
    remove(): undefined;
  };
  notifications: {
    test(): { readonly results: readonly TestResult[] };
  };
}

export const { Form, useActionResult, submitAs } = createActionUses<DeskActions>();
