import type { ReactNode } from 'react';
import { useActionResult } from '../rendering/hooks.ts';
import type { ActionResult } from '../wire/payload.ts';
import { ACTION_FIELD } from '../wire/protocol.ts';
import { Form, type FormProps } from './form.tsx';

/** What a form may name, `<route id>.<name>`, of the table of actions of a product. */
export type ActionName<Actions> = {
  [Id in keyof Actions & string]: `${Id}.${keyof Actions[Id] & string}`;
}[keyof Actions & string];

/** What the action of a name returns where it refuses nothing. */
export type ActionData<Actions, Name> = {
  [Id in keyof Actions & string]: {
    [Key in keyof Actions[Id] & string]: `${Id}.${Key}` extends Name ? ReturnedBy<Actions[Id][Key]> : never;
  }[keyof Actions[Id] & string];
}[keyof Actions & string];

type ReturnedBy<Action> = Action extends () => infer Data ? Data : never;

/** What pages use to post to actions and to hear of them; a name that the table does not have does not compile. */
export interface ActionUses<Actions> {
  readonly Form: (props: FormProps<ActionName<Actions>>) => ReactNode;
  readonly useActionResult: <Name extends ActionName<Actions>>(
    action: Name,
  ) => ActionResult<ActionData<Actions, Name>> | undefined;
  /** For a button that posts another action than its form names: `<button {...submitAs('people.remove')}>`. */
  readonly submitAs: (action: ActionName<Actions>) => {
    readonly type: 'submit';
    readonly name: string;
    readonly value: string;
  };
}

/**
 * Ties forms to a table of actions: `interface Actions { people: PeopleActions }`, by route id, where
 * `interface PeopleActions { add(): { id: string } }` stands beside the page. `ServerPages` holds the
 * server halves to the same table.
 */
export function createActionUses<Actions>(): ActionUses<Actions> {
  return {
    Form,
    // The server half promises the shape: ServerPages<typeof routes, AppContext, Actions>.
    useActionResult: useActionResult as ActionUses<Actions>['useActionResult'],
    submitAs: (action) => ({ type: 'submit', name: ACTION_FIELD, value: action }),
  };
}
