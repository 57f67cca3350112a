import type { FormHTMLAttributes, ReactNode } from 'react';
import { ACTION_FIELD } from '../wire/protocol.ts';

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
