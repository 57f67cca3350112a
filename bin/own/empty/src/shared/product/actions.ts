import { createActionUses } from '#engine';

/**
 * The actions of all pages, by route id, as the interfaces beside the pages declare them:
 * `export interface Actions { people: PeopleActions }`. What a form names and this does not have does
 * not compile, nor does a server half without an action that this has.
 */
export type Actions = Record<never, never>;

/** Forms, and what became of them. */
export const { Form, useActionOutcome, submitAs } = createActionUses<Actions>();
