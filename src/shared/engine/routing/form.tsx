import type { FormHTMLAttributes, ReactNode } from 'react';
import { ACTION_FIELD } from '../wire/protocol.ts';

export interface FormProps<Action extends string = string>
  extends Omit<FormHTMLAttributes<HTMLFormElement>, 'action' | 'method'> {
  /** The action that takes the post, `<route id>.<name>`. A submit button named `_action` overrides it. */
  readonly action?: Action;
  /** `get` asks the page again with the fields as its search. */
  readonly method?: 'get' | 'post';
  /** Where to post to, when not to the page itself. */
  readonly to?: string;
  readonly replace?: boolean;
  readonly preventScrollReset?: boolean;
  /** Where scripts run: shows the default values of its fields again, once an action has taken the post. */
  readonly reset?: boolean;
}

/**
 * A form that works without JavaScript, and is posted in the background with it. There, where an action
 * refuses it, the focus goes to its first field with `aria-invalid`. Pages take it from
 * `createActionUses()`, where the compiler knows the names of their actions.
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
