import type { ReactNode } from 'react';
import { useActionResult } from '../rendering/hooks.ts';
import type { ActionResult } from '../wire/payload.ts';
import { ACTION_FIELD } from '../wire/protocol.ts';
import { Form, type FormProps } from './form.tsx';

/** Names that forms can use, `<route id>.<name>`, from the product's table of actions. */
export type ActionName<Actions> = {
  [Id in keyof Actions & string]: `${Id}.${keyof Actions[Id] & string}`;
}[keyof Actions & string];

/** Data that the named action returns on success. */
export type ActionData<Actions, Name> = {
  [Id in keyof Actions & string]: {
    [Key in keyof Actions[Id] & string]: `${Id}.${Key}` extends Name ? ReturnedBy<Actions[Id][Key]> : never;
  }[keyof Actions[Id] & string];
}[keyof Actions & string];

type ReturnedBy<Action> = Action extends () => infer Data ? Data : never;

/** What pages use to post to actions and read their results. A name that is not in the table does not compile. */
interface ActionUses<Actions> {
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
 * Types forms by a table of actions, `interface Actions { people: PeopleActions }`. Its keys are route ids, and
 * `interface PeopleActions { add(): { id: string } }` is declared next to the page. `ServerPages` checks the server
 * halves against the same table.
 */
export function createActionUses<Actions>(): ActionUses<Actions> {
  return {
    Form,
    // The server half ensures the type: ServerPages<typeof routes, AppContext, Actions>.
    useActionResult: useActionResult as ActionUses<Actions>['useActionResult'],
    submitAs: (action) => ({ type: 'submit', name: ACTION_FIELD, value: action }),
  };
}
