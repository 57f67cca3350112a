import { Form, useActionOutcome } from '../../actions.ts';
import { Field } from '../../ui/field.tsx';
import { usePending } from '../../ui/use-pending.ts';

export interface RootActions {
  subscribe(): { email: string };
}

/** Owned by the root layout: it is posted to whatever page it stands on, and that page is shown again. */
export function Newsletter() {
  const outcome = useActionOutcome('root.subscribe');
  const pending = usePending('root.subscribe');
  return (
    <Form action="root.subscribe" method="post" noValidate>
      <Field label="News of Spillway by e-mail" name="email" type="email" autoComplete="email" outcome={outcome} />
      <button type="submit" disabled={pending}>
        {pending ? 'Subscribing…' : 'Subscribe'}
      </button>
      <p role="status">{outcome?.status === 200 && 'Thank you. (This is a tour: the address was not kept.)'}</p>
    </Form>
  );
}
