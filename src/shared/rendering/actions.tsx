import type { FormHTMLAttributes, ReactNode } from 'react';
import type { ActionResult } from '../wire/payload.ts';
import { ACTION_FIELD } from '../wire/protocol.ts';
import { useActionResult } from './hooks.ts';

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

export interface FormProps<Action extends string = string>
  extends Omit<FormHTMLAttributes<HTMLFormElement>, 'action' | 'method'> {
  /** The action to run, `<route id>.<name>`. A submit button named `_action` overrides it. */
  readonly action?: Action;
  /** `get` requests the page with the fields as its search. `dialog` closes the dialog around it, and sends nothing. */
  readonly method?: 'get' | 'post' | 'dialog';
  /** URL to post to, if not the page itself. The browser itself sends a form to another site. */
  readonly to?: string;
  readonly replace?: boolean;
  readonly preventScrollReset?: boolean;
  /** With scripts: resets the fields to their default values after a successful action. */
  readonly reset?: boolean;
}

/**
 * A form that works without JavaScript. With it, the form is posted in the background, and if the action refuses it, the
 * first field with `aria-invalid` gets the focus. Pages get this component from `createActionUses()`, which types the
 * names of their actions.
 */
export function Form({
  action,
  method = 'post',
  to,
  replace,
  preventScrollReset,
  reset,
  children,
  ...rest
}: FormProps): ReactNode {
  return (
    <form
      {...rest}
      method={method}
      action={to}
      data-form=""
      data-replace={replace ? '' : undefined}
      data-keep-scroll={preventScrollReset ? '' : undefined}
      data-reset={reset ? '' : undefined}
    >
      {action ? <input type="hidden" name={ACTION_FIELD} value={action} /> : null}
      {children}
    </form>
  );
}
