import type { FormHTMLAttributes, ReactNode } from 'react';
import type { PartOf } from '../routing/page-props.ts';
import type { ActionResult } from '../wire/payload.ts';
import { ACTION_FIELD } from '../wire/protocol.ts';
import { useActionResult } from './hooks.ts';

/** What the actions of a server file return on success, by name. */
type ResultsOf<Half> = '~types' extends keyof Half
  ? PartOf<Half, 'results'>
  : Half extends null
    ? unknown
    : { readonly [Name in keyof Half]: Half[Name] extends () => infer Data ? Data : never };

/** Names that forms can use, `<route id>.<name>`, from the table of server files. */
export type ActionName<Pages> = Names<Pages>['all'];

/** A member and not an alias, so that the compiler's messages list the names. */
interface Names<Pages> {
  readonly all: { [Id in keyof Pages & string]: `${Id}.${keyof ResultsOf<Pages[Id]> & string}` }[keyof Pages & string];
}

/** Data that the named action returns on success. */
export type ActionData<Pages, Name> = {
  [Id in keyof Pages & string]: {
    [Key in keyof ResultsOf<Pages[Id]> & string]: `${Id}.${Key}` extends Name ? ResultsOf<Pages[Id]>[Key] : never;
  }[keyof ResultsOf<Pages[Id]> & string];
}[keyof Pages & string];

/** What pages use to post to actions and read their results. A name that is not in the table does not compile. */
interface ActionUses<Pages> {
  readonly Form: (props: FormProps<ActionName<Pages>>) => ReactNode;
  readonly useActionResult: <Name extends ActionName<Pages>>(
    action: Name,
  ) => ActionResult<ActionData<Pages, Name>> | undefined;
  /** For a button that posts another action than its form names: `<button {...submitAs('people.remove')}>`. */
  readonly submitAs: (action: ActionName<Pages>) => {
    readonly type: 'submit';
    readonly name: string;
    readonly value: string;
  };
}

/**
 * Types forms by the table of server files, once per app: `createActionUses<typeof pages>()`. Or by an interface of
 * actions, `interface Actions { people: PeopleActions }`, whose keys are route ids. Then
 * `interface PeopleActions { add(): { id: string } }` is declared next to the page, and `ServerPages` checks the server
 * files against it.
 */
export function createActionUses<Pages>(): ActionUses<Pages> {
  return {
    Form,
    // The server file ensures the type.
    useActionResult: useActionResult as ActionUses<Pages>['useActionResult'],
    submitAs: (action) => ({ type: 'submit', name: ACTION_FIELD, value: action }),
  };
}

interface FormProps<Action extends string = string>
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
