import { createActionUses } from '#engine';

/**
 * The actions of all pages, by route id: `export interface Actions { people: PeopleActions }`. Each page declares its
 * own. A form that names an action which is not listed here does not compile. Neither does a server half that lacks one
 * of them.
 */
export type Actions = Record<never, never>;

/** Forms and their results, checked against `Actions`. */
export const { Form, useActionResult, submitAs } = createActionUses<Actions>();
