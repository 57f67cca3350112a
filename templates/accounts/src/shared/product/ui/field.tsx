import { type ComponentProps, type ReactNode, useId } from 'react';
import type { ActionResult } from '#engine';
import styles from './form.module.css';

interface FieldProps extends ComponentProps<'input'> {
  label: string;
  name: string;
  /** The result of the form's action, with errors and typed values. */
  result: ActionResult | undefined;
  /** Explains what to enter. */
  hint?: string;
}

/** A labeled input with its error message. It keeps what was typed. */
export function Field({ label, result, hint, ...input }: FieldProps) {
  const id = useId();
  const error = result?.errors?.[input.name];
  const isWrong = error ? true : undefined;
  const typed = result?.errors && result.values?.[input.name];
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      <input
        {...input}
        id={id}
        // biome-ignore lint/a11y/noAutofocus: without JavaScript, the browser goes to the first one
        autoFocus={isWrong}
        aria-invalid={isWrong}
        aria-describedby={error || hint ? `${id}-hint` : undefined}
        defaultValue={typeof typed === 'string' ? typed : input.defaultValue}
      />
      <p className={error ? styles.error : styles.hint} id={`${id}-hint`}>
        {error ?? hint}
      </p>
    </div>
  );
}

/** Says what happened to the whole form, such as that it was not sent. */
export function FormError({ result, children }: Pick<FieldProps, 'result'> & { children?: ReactNode }) {
  return (
    <p role="alert" className={styles.error}>
      {result?.errors?.[''] ?? children}
    </p>
  );
}

/** For a password that is chosen. */
export function NewPassword(props: Omit<FieldProps, 'hint'>) {
  const hint = 'At least 12 characters. A few random words are easy to remember.';
  return <Field type="password" autoComplete="new-password" required minLength={12} hint={hint} {...props} />;
}
