import { type ComponentProps, useId } from 'react';
import type { ActionResult } from '#engine';
import styles from './form.module.css';

interface FieldProps extends Omit<ComponentProps<'input'>, 'name' | 'type'> {
  label: string;
  name: string;
  /** The result of the form's action, with errors and typed values. */
  result: ActionResult | undefined;
  /** Default: text. `multiline` is a textarea. */
  type?: 'text' | 'email' | 'password' | 'number' | 'date' | 'checkbox' | 'multiline';
  /** Explains what to enter. */
  hint?: string;
}

/** A labeled field with its error message. It keeps what was typed. */
export function Field({ label, name, result, type = 'text', hint, defaultValue, defaultChecked, ...more }: FieldProps) {
  const id = useId();
  const error = result?.errors?.[name];
  const typed = result?.errors ? result.values?.[name] : undefined;
  const shared = {
    id,
    name,
    'aria-invalid': error ? true : undefined,
    'aria-describedby': [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(' ') || undefined,
  };
  if (type === 'checkbox') {
    const isChecked = result?.errors ? typed !== undefined : defaultChecked;
    return (
      <p>
        <input {...more} {...shared} type="checkbox" defaultChecked={isChecked} /> <label htmlFor={id}>{label}</label>
      </p>
    );
  }
  const value = typeof typed === 'string' ? typed : defaultValue;
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {type === 'multiline' ? (
        <textarea {...shared} rows={8} required={more.required} defaultValue={value} />
      ) : (
        <input {...more} {...shared} type={type} defaultValue={value} />
      )}
      {hint && (
        <p className={styles.hint} id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p className={styles.error} id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}
